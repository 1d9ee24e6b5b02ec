//! Contestants that take turns, so that what disturbs one disturbs all.

/// The results of `measure` for each contestant, round by round, until one cannot be measured:
/// a list for each of `contestants`, whose numbers count from 0. The first contestant changes,
/// and every other round goes backwards, so that no contestant always follows the same one. A
/// round that does not count comes first.
pub fn in_turn<T, E>(
    contestants: usize,
    rounds: usize,
    mut measure: impl FnMut(usize) -> Result<T, E>,
) -> Result<Vec<Vec<T>>, E> {
    for contestant in 0..contestants {
        measure(contestant)?;
    }
    let mut measured: Vec<Vec<T>> = (0..contestants)
        .map(|_| Vec::with_capacity(rounds))
        .collect();
    for round in 0..rounds {
        for turn in 0..contestants {
            let place = match round % 2 {
                0 => turn,
                _ => contestants - 1 - turn,
            };
            let contestant = (round / 2 + place) % contestants;
            measured[contestant].push(measure(contestant)?);
        }
    }
    Ok(measured)
}

#[cfg(test)]
mod tests;
