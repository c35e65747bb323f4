//! How much the place of code in an executable matters: one program that allocates, linked in
//! several orders with code that is never called.

use std::path::Path;
use std::process::Command;

use super::Extent;
use super::table::{Batch, Table};

/// Gives and takes back blocks in an order that a generator decides; prints nanoseconds of CPU a
/// block.
const WORK: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static void *held[4096];
static unsigned long long now(void) {
  struct timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec * 1000000000ull + t.tv_nsec;
}
void *give(size_t bytes) { char *p = malloc(bytes); p[0] = 1; return p; }
void take(void *p) { free(p); }
int main(int count, char **words) {
  unsigned rounds = atoi(words[1]), state = 7;
  unsigned long long begin = now();
  for (unsigned i = 0; i < rounds; i++) {
    state = state * 1103515245u + 12345u;
    unsigned slot = state >> 20;
    take(held[slot]);
    held[slot] = give(16 + (state >> 8) % 400);
  }
  printf("%f\n", (double)(now() - begin) / rounds);
  return count != 2;
}
"#;

/// Octets of code that nobody calls, beside the work.
const PADS: [u32; 5] = [3, 41, 257, 1021, 4099];

pub(crate) fn run(extent: Extent, table: &mut Table) {
    table.section("the same allocating code, linked in other orders (ns of CPU a block)");
    let folder = tempfile::tempdir().unwrap();
    let orders = match build(folder.path()) {
        Ok(orders) => orders,
        Err(said) => {
            eprintln!("SKIPPED: no C compiler that links: {said}");
            return;
        }
    };
    let (rounds, times) = if extent.quick { ("200000", 3) } else { ("2000000", 9) };
    let run = |order: usize| {
        let output = Command::new(folder.path().join(order.to_string())).arg(rounds).output();
        let said = String::from_utf8(output.unwrap().stdout).unwrap();
        said.trim().parse::<f64>().unwrap()
    };
    let (mut found, mut again) = (vec![Vec::new(); orders], vec![Vec::new(); orders]);
    for _ in 0..times {
        for (order, (times, again)) in found.iter_mut().zip(&mut again).enumerate() {
            times.push(run(order));
            // What spreads although nothing differs is the machine's.
            again.push(run(0));
        }
    }
    let (orders, again_pct) = (found.len(), spread_pct(&again));
    let spread_pct = spread_pct(&found);
    for (order, times) in found.into_iter().enumerate() {
        let batch = |ns| Batch { ns, cpu_ns: ns };
        let batches = times.into_iter().map(batch).collect();
        table.row(&format!("order {}", order + 1), None, batches);
    }
    table.fact(
        &format!(
            "  the least of {times} runs each spread by {spread_pct:.1} %, though no instruction \
             differs (document: 25 %, by such code); as many of one order by {again_pct:.1} %"
        ),
        serde_json::json!({
            "orders": orders, "spread_pct": spread_pct, "again_pct": again_pct,
        }),
    );
}

/// From the least of each list to the largest of these, in percent.
fn spread_pct(lists: &[Vec<f64>]) -> f64 {
    let least = |times: &Vec<f64>| times.iter().copied().fold(f64::INFINITY, f64::min);
    let leasts = lists.iter().map(least);
    let (low, high) =
        leasts.fold((f64::INFINITY, 0_f64), |(low, high), ns| (low.min(ns), high.max(ns)));
    (high / low - 1.0) * 100.0
}

/// Links each rotation of the files, and each backwards; how many.
fn build(folder: &Path) -> Result<usize, String> {
    let compile = |name: &str, source: &str| {
        std::fs::write(folder.join(format!("{name}.c")), source).map_err(|e| e.to_string())?;
        cc(folder, &["-O2", "-c", &format!("{name}.c")])
    };
    compile("work", WORK)?;
    let mut names = vec!["work.o".to_owned()];
    for bytes in PADS {
        let pad =
            format!("__asm__(\".text\\n.globl pad{bytes}\\npad{bytes}: .fill {bytes}, 1, 0x90\");");
        compile(&format!("pad{bytes}"), &pad)?;
        names.push(format!("pad{bytes}.o"));
    }
    let mut orders = 0;
    for _ in 0..names.len() {
        names.rotate_left(1);
        for order in [names.clone(), names.iter().rev().cloned().collect()] {
            let mut words = vec!["-o".to_owned(), orders.to_string()];
            words.extend(order);
            cc(folder, &words.iter().map(String::as_str).collect::<Vec<_>>())?;
            orders += 1;
        }
    }
    Ok(orders)
}

fn cc(folder: &Path, words: &[&str]) -> Result<(), String> {
    let output = Command::new("cc").current_dir(folder).args(words).output();
    let output = output.map_err(|error| error.to_string())?;
    let said = || String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(said()) }
}
