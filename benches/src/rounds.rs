//! Contestants run in turn, so that a disturbance affects all of them.

/// Measures each contestant in each round, and returns a list of results for each. `measure` gets
/// the index of the contestant. The first contestant changes, and every other round runs backwards,
/// so no contestant always follows the same one. The first round is not counted. An error ends the
/// rounds.
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
