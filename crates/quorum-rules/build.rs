//! Puts every rule file into the binary, so that none can be forgotten.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let target = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    for (constant, folder) in [("RULES", "rules"), ("MODELS", "models")] {
        let mut out = String::new();
        let mut files = Vec::new();
        collect(&root.join(folder), &mut files)?;
        files.sort();
        println!("cargo::rerun-if-changed={folder}");
        let _ = writeln!(out, "const {constant}: &[(&str, &str)] = &[");
        for file in &files {
            let name = file.strip_prefix(&root).unwrap_or(file).to_string_lossy();
            let _ = writeln!(out, "({name:?}, include_str!({:?})),", file.to_string_lossy());
        }
        out.push_str("];\n");
        fs::write(target.join(format!("{folder}.rs")), out)?;
    }
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            files.push(path);
        }
    }
    Ok(())
}
