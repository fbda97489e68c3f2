//! How much of a model's window a request's files may take.

use crate::error::PlanError;
use crate::models::Model;

/// Tokens for the role and the schemas of tools.
pub const SYSTEM: u64 = 2_000;
/// Tokens for the plan's summary.
pub const PLAN: u64 = 1_500;
/// Tokens kept for the SOPs that apply, all of them or none.
pub const SOPS: u64 = 4_000;
/// Tokens kept for the answer.
pub const RESPONSE: u64 = 6_400;
/// More files than this are probably too many for one request.
pub const MANY_FILES: usize = 4;
/// What a file costs whose name alone is shown.
pub const NAME_ONLY: u64 = 100;

/// Fewer file tokens than this are no review.
const LEAST_USEFUL: u64 = 64;

/// `window − 2000 − 1500 − 4000 − 6400 − 15 % of window`; nothing where that is below zero.
pub fn available(window: u64) -> u64 {
    // The margin is rounded up, so that what is left is rounded down.
    let margin = (u128::from(window) * 15).div_ceil(100);
    let margin = u64::try_from(margin).unwrap_or(u64::MAX);
    window.saturating_sub(SYSTEM + PLAN + SOPS + RESPONSE).saturating_sub(margin)
}

/// The tokens that a request's files may take: 40 % of what is available, or the sweet spot.
pub fn files_limit(model: &Model) -> Result<u64, PlanError> {
    let available = available(model.window);
    let share = u64::try_from(u128::from(available) * 2 / 5).unwrap_or(u64::MAX);
    let limit = model.sweet_spot.map_or(share, |spot| spot.min(available));
    if limit < LEAST_USEFUL {
        let (model, window) = (model.name.clone(), model.window);
        return Err(PlanError::WindowTooSmall { model, window });
    }
    Ok(limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_worked_example() {
        assert_eq!(available(200_000), 156_100);
        assert_eq!(files_limit(&Model::of_window("m", 200_000)), Ok(62_440));
    }

    #[test]
    fn a_sweet_spot_replaces_the_share_but_not_the_window() {
        let model = Model { sweet_spot: Some(100_000), ..Model::of_window("m", 200_000) };
        assert_eq!(files_limit(&model), Ok(100_000));
        let model = Model { sweet_spot: Some(999_999), ..Model::of_window("m", 200_000) };
        assert_eq!(files_limit(&model), Ok(156_100));
    }

    #[test]
    fn a_window_that_is_too_small_is_refused() {
        assert!(files_limit(&Model::of_window("m", 16_000)).is_err());
        assert!(files_limit(&Model::of_window("m", 0)).is_err());
    }

    proptest! {
        #[test]
        fn a_request_always_fits_its_window(window: u64) {
            let model = Model::of_window("m", window);
            if let Ok(limit) = files_limit(&model) {
                let sent = u128::from(limit) + u128::from(SYSTEM + PLAN + SOPS + RESPONSE);
                prop_assert!(sent <= u128::from(window));
            }
        }
    }
}
