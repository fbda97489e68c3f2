//! The order of versions, as each ecosystem defines it.

mod composer;
mod maven;
mod number;
mod pep440;
mod requirement;
mod rubygems;
mod semver;

use std::cmp::Ordering;

use crate::Ecosystem;

pub use requirement::satisfies;

/// Compares two versions by the ecosystem's own order.
///
/// It is a total order over all texts, whether or not they are versions.
pub fn compare(ecosystem: Ecosystem, left: &str, right: &str) -> Ordering {
    let (left, right) = (left.trim(), right.trim());
    match ecosystem {
        Ecosystem::Cargo | Ecosystem::Go | Ecosystem::Npm => semver::compare(left, right),
        Ecosystem::NuGet => {
            semver::compare(&left.to_ascii_lowercase(), &right.to_ascii_lowercase())
        }
        Ecosystem::Maven => maven::compare(left, right),
        Ecosystem::Packagist => composer::compare(left, right),
        Ecosystem::PyPi => pep440::compare(left, right),
        Ecosystem::RubyGems => rubygems::compare(left, right),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The examples that the ecosystems' own documents give, each smaller than the next.
    #[test]
    fn documented_orders() {
        let semver = "1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta 1.0.0-beta.2 1.0.0-beta.11 \
                      1.0.0-rc.1 1.0.0 1.2.0 1.10.0 2.0.0";
        let go = "v0.0.0-20180101000000-abcdefabcdef v0.0.0-20200101000000-abcdefabcdef v1.2.3-pre \
                  v1.2.3 v1.2.4-0.20200101000000-abcdefabcdef v1.2.4 v2.0.0+incompatible";
        let pep = "1.0.dev456 1.0a1 1.0a2.dev456 1.0a12.dev456 1.0a12 1.0b1.dev456 1.0b2 \
                   1.0b2.post345.dev456 1.0b2.post345 1.0rc1.dev456 1.0rc1 1.0 1.0+abc.5 1.0+abc.7 1.0+5 \
                   1.0.post456.dev34 1.0.post456 1.1.dev1 1!0.1";
        let maven = "1.0-alpha-1 1.0-alpha-2 1.0-beta-1 1.0-milestone-1 1.0-rc-1 1.0-SNAPSHOT 1.0 1.0-sp \
                     1.0-xyz 1.0-1 1.0.1 1.1 1.10 2.0";
        let ruby = "1.0.a.2 1.0.b1 1.0.rc1 1.0 1.0.1 1.1.a 1.1 1.10";
        let composer = "1.0.0-dev 1.0.0-alpha1 1.0.0-beta2 1.0.0-RC1 1.0.0 1.0.0-pl1 1.0.1 1.10.0";
        let nuget = "1.0.0-alpha 1.0.0-Beta 1.0.0 1.0.0.1 1.0.1 1.10.0";
        for (ecosystem, chain) in [
            (Ecosystem::Cargo, semver),
            (Ecosystem::Npm, semver),
            (Ecosystem::Go, go),
            (Ecosystem::PyPi, pep),
            (Ecosystem::Maven, maven),
            (Ecosystem::RubyGems, ruby),
            (Ecosystem::Packagist, composer),
            (Ecosystem::NuGet, nuget),
        ] {
            let versions: Vec<&str> = chain.split_whitespace().collect();
            for (at, left) in versions.iter().enumerate() {
                for (beside, right) in versions.iter().enumerate() {
                    let order = compare(ecosystem, left, right);
                    assert_eq!(order, at.cmp(&beside), "{ecosystem}: {left} {right}");
                }
            }
        }
    }

    #[test]
    fn documented_equals() {
        for (ecosystem, left, right) in [
            (Ecosystem::Go, "v1.2.3", "1.2.3"),
            (Ecosystem::Cargo, "1.0.0+build1", "1.0.0+build2"),
            (Ecosystem::PyPi, "1.0", "1.0.0"),
            (Ecosystem::PyPi, "1.0-alpha1", "1.0a1"),
            (Ecosystem::PyPi, "v1.0-r4", "1.0.post4"),
            (Ecosystem::Maven, "1", "1.0.0"),
            (Ecosystem::Maven, "1.0-ga", "1.0"),
            (Ecosystem::Maven, "1-a1", "1-alpha-1"),
            (Ecosystem::Maven, "1.0-cr1", "1.0-RC1"),
            (Ecosystem::RubyGems, "1.0", "1.0.0"),
            (Ecosystem::Packagist, "v1.0.0", "1.0.0"),
            (Ecosystem::NuGet, "1.0.0.0", "1.0.0"),
            (Ecosystem::NuGet, "1.0.0-BETA", "1.0.0-beta"),
        ] {
            assert_eq!(
                compare(ecosystem, left, right),
                Ordering::Equal,
                "{ecosystem}: {left} {right}"
            );
        }
    }

    fn any_ecosystem() -> impl Strategy<Value = Ecosystem> {
        prop::sample::select(Ecosystem::ALL)
    }

    /// Versions as people write them, and what they never should.
    fn any_version() -> impl Strategy<Value = String> {
        prop_oneof![
            4 => "v?[0-9]{1,3}(\\.[0-9]{1,2}){0,3}([-.+]?(alpha|beta|a|b|rc|pre|dev|post|SNAPSHOT|final|sp|x)[-.]?[0-9]{0,2}){0,2}(\\+[a-z0-9.]{1,4})?",
            1 => "[0-9a-zA-Z.+!_~-]{0,8}",
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn order_is_total(ecosystem in any_ecosystem(), a in any_version(), b in any_version(), c in any_version()) {
            let order = |x: &str, y: &str| compare(ecosystem, x, y);
            prop_assert_eq!(order(&a, &a), Ordering::Equal);
            prop_assert_eq!(order(&a, &b), order(&b, &a).reverse());
            if order(&a, &b).is_le() && order(&b, &c).is_le() {
                prop_assert!(order(&a, &c).is_le(), "{ecosystem}: {a:?} {b:?} {c:?}");
            }
        }

        #[test]
        fn any_text_can_be_compared(ecosystem in any_ecosystem(), a in ".{0,20}", b in ".{0,20}") {
            prop_assert_eq!(compare(ecosystem, &a, &b), compare(ecosystem, &b, &a).reverse());
        }
    }
}
