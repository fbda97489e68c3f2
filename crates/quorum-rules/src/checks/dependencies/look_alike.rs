//! Names that are nearly those of packages that everybody uses.

use quorum_advisories::{Ecosystem, Origin, Package, Relation};
use quorum_model::severity::Severity;

use super::Change;
use super::advisories::finding;
use crate::finding::RuleFinding;

pub(super) fn check(change: &Change<'_>, findings: &mut Vec<RuleFinding>) {
    if change.format.is_lock() {
        return;
    }
    for package in change.added() {
        if package.relation != Relation::Direct || package.origin != Origin::Registry {
            continue;
        }
        let Some(popular) = resembled(package) else { continue };
        let issue = format!(
            "{} is nearly the name of {popular}, which far more projects use. Packages with such names are \
             published to be installed by mistake.",
            package.name
        );
        let advice = format!(
            "If {popular} was meant, correct the name. If not, look at who publishes {} before it is \
             installed anywhere.",
            package.name
        );
        let found = finding(change, package, "dependencies.look-alike-name", issue, advice);
        findings.push(RuleFinding {
            severity: Severity::Medium,
            confidence: 0.65,
            category: "confusion".to_owned(),
            cwe: Some("CWE-1357".to_owned()),
            caused: false,
            ..found
        });
    }
}

/// The popular package that this name is one slip away from.
fn resembled(package: &Package) -> Option<&'static str> {
    let (popular, known) = lists(package.ecosystem)?;
    let name = package.ecosystem.normalize(&package.name).to_ascii_lowercase();
    let words = |list: &'static str| list.split_ascii_whitespace();
    if words(popular).chain(words(known)).any(|other| other == name) || name.starts_with('@') {
        return None;
    }
    words(popular).find(|other| is_slip(&name, other))
}

/// One letter more, less, other, or two in the wrong order; or only other separators.
fn is_slip(name: &str, popular: &str) -> bool {
    if popular.len() < 5 {
        return false;
    }
    let bare = |text: &str| text.replace(['-', '_', '.'], "");
    // `react-dom` and `reactdom`, but not `d3-array` and `d3array`, which are short.
    name != popular && bare(name) == bare(popular) && popular.len() >= 6
        || distance_is_one(name.as_bytes(), popular.as_bytes())
}

fn distance_is_one(name: &[u8], popular: &[u8]) -> bool {
    let same = name.iter().zip(popular).take_while(|(left, right)| left == right).count();
    match (&name[same..], &popular[same..]) {
        // A number at the end is the next generation, not a slip.
        ([last], []) | ([], [last]) => !last.is_ascii_digit(),
        ([_, after @ ..], other) | (other, [_, after @ ..]) if after == other => true,
        ([left, rest @ ..], [right, other @ ..]) => {
            let digits = left.is_ascii_digit() || right.is_ascii_digit();
            (rest == other && !digits) || is_swap((*left, rest), (*right, other))
        }
        _ => false,
    }
}

/// Whether two letters only changed places.
fn is_swap((left, rest): (u8, &[u8]), (right, other): (u8, &[u8])) -> bool {
    rest.split_first().zip(other.split_first()).is_some_and(|((second, after), (next, behind))| {
        *second == right && *next == left && after == behind
    })
}

/// Popular names that are imitated, and names near them that are what they say.
fn lists(ecosystem: Ecosystem) -> Option<(&'static str, &'static str)> {
    Some(match ecosystem {
        Ecosystem::Npm => (
            "express react react-dom lodash axios commander chalk request moment webpack typescript eslint \
             babel-core prettier mongoose mongodb electron puppeteer socket.io dotenv cross-env nodemailer \
             bluebird underscore jquery angular vue-router redux react-redux react-router next-auth styled-components \
             body-parser cookie-parser jsonwebtoken bcrypt passport winston uuid async yargs inquirer rimraf mkdirp \
             node-fetch cheerio handlebars discord.js ethers web3 crypto-js node-sass tailwindcss postcss autoprefixer \
             rollup esbuild nodemon ts-node mysql2 sequelize graphql apollo-server fs-extra semver minimist colors faker \
             event-stream ua-parser-js dayjs date-fns classnames immutable validator",
            "preact vuex nuxt color bcryptjs yarg expresso reacts asynckit",
        ),
        Ecosystem::PyPi => (
            "requests numpy pandas django flask scipy matplotlib urllib3 boto3 botocore pyyaml setuptools python-dateutil \
             cryptography jinja2 sqlalchemy pytest pillow tensorflow pytorch-lightning scikit-learn beautifulsoup4 selenium \
             paramiko colorama aiohttp fastapi uvicorn pydantic celery redis psycopg2 pymongo openai transformers httpx \
             click werkzeug markupsafe certifi idna chardet charset-normalizer virtualenv websockets protobuf grpcio \
             cffi lxml opencv-python discord.py python-telegram-bot pycryptodome ansible jupyter ipython keras nltk spacy \
             langchain pyjwt gunicorn asyncpg alembic",
            "pydantic-core pytest-cov numba click-man pillow-simd redis-py urllib openapi psycopg pymongo-auth httpx2",
        ),
        Ecosystem::Cargo => (
            "serde serde-json tokio rand reqwest anyhow thiserror regex chrono futures hyper tracing itertools \
             once-cell lazy-static parking-lot crossbeam rayon clap syn quote proc-macro2 bytes uuid base64 axum \
             actix-web rustls openssl sqlx diesel tonic prost tempfile walkdir bitflags indexmap hashbrown smallvec \
             num-traits async-trait env-logger rust-decimal",
            "serde-yaml futures-util tokio-util clap-derive future hypers byte hyper-util",
        ),
        Ecosystem::RubyGems => (
            "rails rack rake nokogiri devise sidekiq puma rspec activerecord activesupport bundler sinatra faraday \
             redis mysql2 sqlite3 httparty rubocop capistrano carrierwave kaminari pundit jekyll omniauth bcrypt \
             rest-client twitter-bootstrap-rails simple-form",
            "racc",
        ),
        Ecosystem::Go | Ecosystem::Maven | Ecosystem::NuGet | Ecosystem::Packagist => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slip_away() {
        for (name, popular) in [
            ("reqeusts", "requests"),
            ("request", "requests"),
            ("lodahs", "lodash"),
            ("loadash", "lodash"),
            ("crossenv", "cross-env"),
            ("electorn", "electron"),
            ("expresss", "express"),
            ("djanga", "django"),
        ] {
            assert!(is_slip(name, popular), "{name}");
        }
        for (name, popular) in [
            ("requests", "requests"),
            ("requests-toolbelt", "requests"),
            ("vue", "vuex"),
            ("mysql3", "mysql2"),
            ("express4", "express"),
            ("typescript-eslint", "typescript"),
        ] {
            assert!(!is_slip(name, popular), "{name}");
        }
    }
}
