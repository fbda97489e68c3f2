//! Agglomerative clustering by average link.

/// No more than this are compared each with each at once; a run with more remarks about one place
/// than this is a flood, and is grouped in portions.
const PORTION: usize = 1024;

/// Groups `items` so that no two groups are alike, on average over their members, from `alike` on.
///
/// `score` gives the likeness of two items. `reaches(a, b)` is false when neither `b` nor anything
/// after it is like `a`, which spares the comparison of what is far apart.
pub(crate) fn average(
    items: &[usize],
    alike: f64,
    score: impl Fn(usize, usize) -> f64,
    reaches: impl Fn(usize, usize) -> bool,
) -> Vec<Vec<usize>> {
    let mut groups = Vec::new();
    for component in components(items, alike, &score, &reaches) {
        for portion in component.chunks(PORTION) {
            groups.extend(chain(portion, alike, &score));
        }
    }
    groups
}

/// Items that are linked, directly or over others, by a likeness of at least `alike`. Groups never
/// reach across: the average over pairs that all fall short falls short.
fn components(
    items: &[usize],
    alike: f64,
    score: &impl Fn(usize, usize) -> f64,
    reaches: &impl Fn(usize, usize) -> bool,
) -> Vec<Vec<usize>> {
    let mut parent: Vec<usize> = (0..items.len()).collect();
    for (i, &a) in items.iter().enumerate() {
        for (j, &b) in items.iter().enumerate().skip(i + 1) {
            if !reaches(a, b) {
                break;
            }
            let (root_a, root_b) = (root(&mut parent, i), root(&mut parent, j));
            if root_a != root_b && score(a, b) >= alike {
                parent[root_a.max(root_b)] = root_a.min(root_b);
            }
        }
    }
    let mut components: Vec<Vec<usize>> = vec![Vec::new(); items.len()];
    for (i, &item) in items.iter().enumerate() {
        let root = root(&mut parent, i);
        components[root].push(item);
    }
    components.retain(|component| !component.is_empty());
    components
}

fn root(parent: &mut [usize], mut item: usize) -> usize {
    while parent[item] != item {
        parent[item] = parent[parent[item]];
        item = parent[item];
    }
    item
}

/// Follows nearest neighbours until two are each other's nearest, and merges those; quadratic in
/// time, where looking for the best pair each time would be cubic.
fn chain(items: &[usize], alike: f64, score: &impl Fn(usize, usize) -> f64) -> Vec<Vec<usize>> {
    let mut likeness = Matrix::of(items, score);
    let mut groups: Vec<Vec<usize>> = items.iter().map(|&item| vec![item]).collect();
    let mut open: Vec<usize> = (0..items.len()).collect();
    let mut chain: Vec<usize> = Vec::new();
    while let Some(&first) = open.first() {
        let top = *chain.last().unwrap_or(&first);
        if chain.is_empty() {
            chain.push(top);
        }
        let before = chain.len().checked_sub(2).map(|index| chain[index]);
        let Some(nearest) = likeness.nearest(top, before, &open, alike) else {
            // Nothing is near enough, and nothing that merges later will be.
            open.retain(|&group| group != top);
            chain.pop();
            continue;
        };
        if before != Some(nearest) {
            chain.push(nearest);
            continue;
        }
        chain.truncate(chain.len() - 2);
        let (kept, gone) = (top.min(nearest), top.max(nearest));
        likeness.merge(kept, groups[kept].len(), gone, groups[gone].len(), &open);
        let members = std::mem::take(&mut groups[gone]);
        groups[kept].extend(members);
        open.retain(|&group| group != gone);
    }
    groups.retain(|group| !group.is_empty());
    for group in &mut groups {
        group.sort_unstable();
    }
    groups
}

struct Matrix {
    size: usize,
    values: Vec<f64>,
}

impl Matrix {
    fn of(items: &[usize], score: &impl Fn(usize, usize) -> f64) -> Self {
        let size = items.len();
        let mut matrix = Self { size, values: vec![0.0; size * size] };
        for (i, &a) in items.iter().enumerate() {
            for (j, &b) in items.iter().enumerate().skip(i + 1) {
                matrix.set(i, j, score(a, b));
            }
        }
        matrix
    }

    fn get(&self, a: usize, b: usize) -> f64 {
        self.values[a * self.size + b]
    }

    fn set(&mut self, a: usize, b: usize, value: f64) {
        self.values[a * self.size + b] = value;
        self.values[b * self.size + a] = value;
    }

    /// The nearest open group that is near enough; of equals, the one before in the chain, else
    /// the first.
    fn nearest(
        &self,
        group: usize,
        before: Option<usize>,
        open: &[usize],
        alike: f64,
    ) -> Option<usize> {
        let mut best: Option<(usize, f64)> = before.map(|before| (before, self.get(group, before)));
        for &other in open.iter().filter(|&&other| other != group) {
            let value = self.get(group, other);
            if best.is_none_or(|(_, most)| value > most) {
                best = Some((other, value));
            }
        }
        best.filter(|&(_, value)| value >= alike).map(|(other, _)| other)
    }

    #[expect(clippy::cast_precision_loss, reason = "a portion has at most 1,024 members")]
    fn merge(
        &mut self,
        kept: usize,
        kept_size: usize,
        gone: usize,
        gone_size: usize,
        open: &[usize],
    ) {
        let (kept_size, gone_size) = (kept_size as f64, gone_size as f64);
        for &other in open.iter().filter(|&&other| other != kept && other != gone) {
            let sum = self.get(kept, other) * kept_size + self.get(gone, other) * gone_size;
            self.set(kept, other, sum / (kept_size + gone_size));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The textbook way: the best pair of all, again and again.
    fn slow(size: usize, alike: f64, score: &impl Fn(usize, usize) -> f64) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = (0..size).map(|item| vec![item]).collect();
        loop {
            let mut best = (alike, None);
            for i in 0..groups.len() {
                for j in i + 1..groups.len() {
                    let pairs =
                        groups[i].iter().flat_map(|&a| groups[j].iter().map(move |&b| (a, b)));
                    let scores: Vec<f64> = pairs.map(|(a, b)| score(a.min(b), a.max(b))).collect();
                    #[expect(clippy::cast_precision_loss, reason = "a handful")]
                    let mean = scores.iter().sum::<f64>() / scores.len() as f64;
                    if mean >= best.0 {
                        best = (mean, Some((i, j)));
                    }
                }
            }
            let Some((i, j)) = best.1 else { break };
            let gone = groups.remove(j);
            groups[i].extend(gone);
        }
        for group in &mut groups {
            group.sort_unstable();
        }
        groups.sort();
        groups
    }

    proptest! {
        #[test]
        fn the_chain_finds_what_the_textbook_finds(
            size in 1usize..9,
            // Odd multiples of irrational steps, so that no two averages are equal.
            seeds in proptest::collection::vec(0.0f64..1.0, 36),
            alike in 0.2f64..0.8,
        ) {
            let score = |a: usize, b: usize| seeds[b * (b - 1) / 2 + a];
            let items: Vec<usize> = (0..size).collect();
            let score = |a: usize, b: usize| score(a.min(b), a.max(b));
            let mut groups = average(&items, alike, score, |_, _| true);
            groups.sort();
            prop_assert_eq!(groups, slow(size, alike, &score));
        }
    }
}
