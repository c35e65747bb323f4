//! Style of the page: light or dark as its reader's system is, and on paper.

/// Style sheet of the page and its pictures.
pub(super) const STYLE: &str = "\
:root{color-scheme:light dark;--paper:#ffffff;--sheet:#f5f7f9;--ink:#20262e;--soft:#5b6673;\
--grid:#dde2e8;--c0:#1f6fb4;--c1:#b3261e;--c2:#1b6e44;--c3:#7a4ca3;--c4:#a35f00;\
--confirmed:#1b6e44;--shown:#1f6fb4;--differs:#a35f00;--missing:#b3261e;--apart:#5b6673}\
@media (prefers-color-scheme:dark){:root{--paper:#14181d;--sheet:#1b2027;--ink:#e6e9ee;\
--soft:#a3adb9;--grid:#333b45;--c0:#6cb4f5;--c1:#ff8a80;--c2:#6fd19c;--c3:#c9a2f0;--c4:#f0b35e;\
--confirmed:#6fd19c;--shown:#6cb4f5;--differs:#f0b35e;--missing:#ff8a80;--apart:#a3adb9}}\
*{box-sizing:border-box}\
body{background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,sans-serif;margin:0 auto;\
max-width:64rem;padding:1.5rem 1.25rem 4rem}\
h1{font-size:1.7rem;margin:0 0 .25rem}h2{font-size:1.35rem;margin:3rem 0 .25rem;\
border-bottom:2px solid var(--grid);padding-bottom:.3rem}h3{font-size:1.08rem;margin:0}\
p{margin:.4rem 0}a{color:var(--c0)}.soft,figcaption,summary,dt{color:var(--soft)}\
.lead{color:var(--soft);max-width:48rem}\
.counts{display:flex;flex-wrap:wrap;gap:.6rem;margin:1rem 0}\
.count{border:1px solid var(--grid);border-radius:8px;padding:.5rem .9rem;min-width:7rem}\
.count b{display:block;font-size:1.6rem;line-height:1.2}\
nav ul{list-style:none;margin:.3rem 0 1rem;padding:0;columns:20rem;column-gap:2rem}\
nav li{break-inside:avoid;padding:.1rem 0;display:flex;gap:.5rem;align-items:baseline}\
nav .dot{flex:none;width:.65rem;height:.65rem;border-radius:50%;background:currentColor}\
section{border:1px solid var(--grid);border-radius:8px;margin:1.1rem 0;padding:1rem 1.1rem;\
background:var(--sheet)}\
section>header{display:flex;gap:.75rem;align-items:baseline;justify-content:space-between}\
.badge{flex:none;border:1px solid currentColor;border-radius:1rem;padding:0 .7rem;font-size:.85rem}\
.confirmed{color:var(--confirmed)}.shown{color:var(--shown)}.not_comparable{color:var(--apart)}.differs{color:var(--differs)}\
.missing{color:var(--missing)}\
.scroll{overflow-x:auto;margin:.7rem 0}\
table{border-collapse:collapse;font-size:.92rem}\
caption{text-align:left;color:var(--soft);padding-bottom:.25rem}\
th,td{border-bottom:1px solid var(--grid);padding:.22rem 1rem .22rem 0;text-align:left;\
vertical-align:top}th{color:var(--soft);font-weight:600}\
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\
td.note{color:var(--soft);font-size:.86rem;min-width:12rem}\
.pair{display:flex;flex-wrap:wrap;gap:0 2.5rem}\
figure{margin:.8rem 0}figcaption{margin-bottom:.2rem}\
svg,img{max-width:100%;height:auto;display:block}svg text{font-family:system-ui,sans-serif}\
svg .ink,svg .head{fill:var(--ink);font-size:13px}svg .head{font-weight:600;font-size:14px}\
svg .soft{fill:var(--soft);font-size:11px}svg .box{fill:var(--paper);stroke:var(--soft)}\
svg .arrow{fill:none;stroke:var(--c0);stroke-width:1.5}\
details{margin-top:.6rem;font-size:.9rem}summary{cursor:pointer}\
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem .9rem;margin:.5rem 0}dd{margin:0}\
code{font:.86em ui-monospace,monospace;overflow-wrap:anywhere}\
@media print{body{max-width:none}section{break-inside:avoid}}";
