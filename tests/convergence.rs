//! Comparison of methods for implicit steps: the table, the chart, and the run, which the comparison does not
//! affect.

use cullet::columns::{Convergence, Method};
use cullet::store::Store;

use crate::harness::{TestFolder, files, shot};

/// Runs the shot at smoke size; the methods are compared in step `step`.
fn simulated(folder: &TestFolder, out: &str, step: &str) {
    let file = shot("convergence");
    let step = format!("output.convergence={step}");
    let mut arguments = vec!["run", &file, "--out", out, "--to", "simulate"];
    for setting in ["scale=smoke", &step] {
        arguments.extend(["--set", setting]);
    }
    folder.succeed(&arguments);
}

/// Iterations of a method until residual and violation were at most `enough`.
fn iterations(table: &Convergence, method: Method, enough: f64) -> Option<u32> {
    let rows = (0..table.method.len()).filter(|&row| table.method[row] == method);
    let mut there = rows.filter(|&row| table.residual[row].max(table.violation[row]) <= enough);
    there.next().map(|row| table.iteration[row])
}

#[test]
fn newtons_method_on_the_manifold_is_ahead_and_the_run_is_what_it_was() {
    let folder = TestFolder::new();
    simulated(&folder, "compared", "1");
    simulated(&folder, "plain", "1000");
    let kinds = ["frames", "breaks", "fragments", "loads", "state"];
    let of = |store: &str| files(&folder.path(store), &kinds);
    assert!(of("compared") == of("plain"));
    let open = |store: &str| Store::open(folder.path(store)).unwrap();
    let (store, plain) = (open("compared"), open("plain"));
    for frame in store.numbers("history", "parquet").unwrap() {
        let [mut one, mut other] = [&store, &plain].map(|s| s.read_history(frame).unwrap());
        (one.seconds, other.seconds) = (vec![], vec![]);
        assert!(one == other, "frame {frame}");
    }
    assert!(plain.numbers("convergence", "parquet").unwrap().is_empty());
    assert_eq!(store.numbers("convergence", "parquet").unwrap(), [1]);

    let table = store.read_convergence(1).unwrap();
    assert!(table.step.iter().all(|&step| step == 1));
    let newton = iterations(&table, Method::Newton, 1e-3).unwrap();
    for (method, enough) in [
        // A first-order method: thousands of iterations are not enough for the accuracy of the others.
        (Method::Descent, 1e-2),
        (Method::Penalty, 1e-3),
        (Method::Multipliers, 1e-3),
        (Method::Augmented, 1e-3),
        (Method::RotationVectorsGaussNewton, 1e-3),
    ] {
        let taken = iterations(&table, method, enough);
        println!("{method:?}: {taken:?} iterations to {enough}, Newton's method {newton} to 1e-3");
        let taken = taken.unwrap_or_else(|| panic!("{method:?} does not converge"));
        assert!(taken > newton);
    }
    let vectors = iterations(&table, Method::RotationVectors, 1e-3);
    println!("RotationVectors: {vectors:?} iterations to 1e-3");
    assert!(vectors.is_some());
    assert_eq!(
        folder
            .succeed(&["inspect", "compared", "--validate", "--json"])
            .trim(),
        "[]"
    );
    folder.succeed(&["plot", "compared", "--format", "svg"]);
    let chart = std::fs::read_to_string(folder.path("compared/plots/convergence.svg")).unwrap();
    for word in ["iterations", "time (", "Newton, multigrid", "multipliers"] {
        assert!(chart.contains(word), "{word}");
    }
}

#[test]
fn a_nan_in_the_table_is_found() {
    let folder = TestFolder::new();
    simulated(&folder, "store", "1");
    let store = Store::open(folder.path("store")).unwrap();
    let mut table = store.read_convergence(1).unwrap();
    table.residual[1] = f64::NAN;
    store.write_numbered("convergence", 1, &table).unwrap();
    let output = folder.output(&["inspect", "store", "--validate"]);
    let message = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1));
    let fault = "convergence/000001.parquet: column residual, row 1: is not finite";
    assert!(message.contains(fault), "{message}");
}

#[test]
fn steps_that_find_no_minimum_are_refused() {
    let folder = TestFolder::new();
    let file = shot("convergence");
    for (setting, parts) in [
        (
            "simulate.integrator=explicit",
            ["output.convergence", "explicit", "backward_euler, midpoint"],
        ),
        (
            "simulate.integrator=linearly_implicit",
            ["output.convergence", "linearly_implicit", "midpoint"],
        ),
        ("output.convergence=0", ["output.convergence", "0", "1"]),
    ] {
        let scale = ["--set", "scale=smoke", "--set", setting];
        let all = [&["run", &file, "--out", "store"][..], &scale].concat();
        let message = folder.refuse(&all);
        for part in parts {
            assert!(message.contains(part), "{part}: {message}");
        }
        assert!(!folder.path("store").exists());
    }
}
