//! Gathers and transposes: every number arrives as it was.

use super::{numbers::Numbers, on_every_device};

#[test]
fn embedding_copies_the_rows_asked_for() {
    on_every_device("movement::embedding_copies_the_rows_asked_for", "embedding", |program| {
        let (width, rows) = (200, 33);
        let mut numbers = Numbers::new(20);
        let table: Vec<u16> = (0..rows * width).map(|_| numbers.bits() as u16).collect();
        let indices: [i64; 6] = [32, 0, -1, 7, 7, 31];
        let out = program.output::<u16>(indices.len() * width);
        let (tables, index) = (program.input(&table), program.input(&indices));
        program.run([indices.len() as u32, 1, 1], &[&tables, &index, &out, &(width as i32)]);
        let expected: Vec<u16> = indices
            .iter()
            .flat_map(|&index| match usize::try_from(index) {
                Ok(index) => table[index * width..][..width].to_vec(),
                Err(_) => vec![0; width],
            })
            .collect();
        assert_eq!(program.read(&out), expected, "{}", program.target);
    });
}

#[test]
fn permuted_rows_follow_their_indices() {
    on_every_device("movement::permuted_rows_follow_their_indices", "permute_rows", |program| {
        let (rows, columns) = (64, 32);
        let mut numbers = Numbers::new(21);
        let x = numbers.floats(rows * columns, 1.0);
        let index: Vec<i32> = (0..rows * columns).map(|_| numbers.below(rows as u64) as i32).collect();
        let out = program.output::<f32>(x.len());
        program.run([1, 1, 1], &[&program.input(&x), &program.input(&index), &out]);
        let expected: Vec<f32> =
            index.iter().enumerate().map(|(i, &from)| x[from as usize * columns + i % columns]).collect();
        assert_eq!(program.read(&out), expected, "{}", program.target);
    });
}

#[test]
fn transpose_moves_every_element() {
    on_every_device("movement::transpose_moves_every_element", "transpose", |program| {
        let (rows, columns) = (100, 150);
        let mut numbers = Numbers::new(22);
        let x: Vec<u16> = (0..rows * columns).map(|_| numbers.bits() as u16).collect();
        let out = program.output::<u16>(x.len());
        program.run([2, 3, 1], &[&program.input(&x), &out, &(rows as i32), &(columns as i32)]);
        let expected: Vec<u16> = (0..x.len()).map(|i| x[i % rows * columns + i / rows]).collect();
        assert_eq!(program.read(&out), expected, "{}", program.target);
    });
}
