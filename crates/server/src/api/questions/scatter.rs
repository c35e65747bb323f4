//! `GET /scatter`: how many durations lie where.

use super::{AxisScale, ClockNote, bounded, elapsed_ms, of_view};
use crate::api::Api;
use crate::api::error::{ApiError, ErrorBody};
use crate::api::parameters::{QuestionName, SelectionParameters};
use crate::api::selection::Selection;
use axum::Json;
use axum::extract::State;
use chronoscope_query::{CELLS_MAX, Raster};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Default number of columns and rows.
const USUAL: (usize, usize) = (600, 300);

/// Cells of the scattergram.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::api) struct CellGrid {
    /// Columns over the starts; the default is 600. At most 2097152 cells in all.
    #[param(minimum = 1, maximum = 8192)]
    width: Option<usize>,
    /// Rows over the durations; the default is 300.
    #[param(minimum = 1, maximum = 8192)]
    height: Option<usize>,
    /// Scale of the durations; the default is `log`.
    scale: Option<AxisScale>,
}

/// A scattergram: exact counts, nothing sampled away.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(in crate::api) struct Scatter {
    /// The starts that the columns cover: UTC ns since 1970, the end not included.
    from_ns: i64,
    until_ns: i64,
    /// The durations that the rows cover.
    min_ns: u64,
    max_ns: u64,
    scale: AxisScale,
    width: usize,
    height: usize,
    /// The edges of the rows in ns, one more than rows: row `y` holds [edges[y], edges[y + 1]).
    edges_ns: Vec<u64>,
    /// Number of durations in the picture.
    total: u64,
    /// Most frequent first, at most 8; then all others as one with an empty path.
    paths: Vec<ScatterPath>,
    cells: Cells,
    extremes: Extremes,
    incomplete: Columns,
    /// Times of known losses.
    gaps: Vec<Gap>,
    clocks: Option<ClockNote>,
    read_rows: u64,
    elapsed_ms: u64,
}

/// A path.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(in crate::api) struct ScatterPath {
    /// The path in words; empty for the remaining paths together.
    path: String,
    /// Steps from root to leaf.
    level: usize,
    count: u64,
}

/// Cells with anything in them, column by column, row 0 being the shortest: parallel arrays.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub(in crate::api) struct Cells {
    x: Vec<u32>,
    y: Vec<u32>,
    count: Vec<u32>,
    /// The most frequent path in the cell, by its number in `paths`.
    path: Vec<u32>,
}

/// The longest and the shortest of every column that has any: parallel arrays.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub(in crate::api) struct Extremes {
    x: Vec<u32>,
    min_ns: Vec<u64>,
    max_ns: Vec<u64>,
    /// Start of the longest, in ns since `from_ns`.
    max_start_ns: Vec<u64>,
    /// Chain of the longest; null where it is not among the 24 longest of all: `/chains` gives it.
    max_chain: Vec<Option<String>>,
}

/// Durations with rows missing on their way, by column: parallel arrays.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub(in crate::api) struct Columns {
    x: Vec<u32>,
    count: Vec<u64>,
}

/// A time in which rows were lost; when in it is not known.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(in crate::api) struct Gap {
    from_ns: i64,
    until_ns: i64,
    lost_rows: u64,
    /// The process that lost rows, and the cause.
    what: String,
}

/// A scattergram of the selected durations.
#[utoipa::path(get, path = "/scatter", tag = "durations", params(Selection, CellGrid, QuestionName),
    responses((status = 200, body = Scatter), (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody), (status = 409, body = ErrorBody),
        (status = 500, body = ErrorBody), (status = 501, body = ErrorBody),
        (status = 503, body = ErrorBody)))]
pub(in crate::api) async fn scatter(
    State(api): State<Api>,
    SelectionParameters { selection, id, own }: SelectionParameters<CellGrid>,
) -> Result<Json<Scatter>, ApiError> {
    let question = selection.question()?;
    let scale = own.scale.unwrap_or_default();
    let raster = Raster {
        width: bounded("width", own.width, USUAL.0, 8192)?,
        height: bounded("height", own.height, USUAL.1, 8192)?,
        scale: scale.into(),
    };
    if raster.width * raster.height > CELLS_MAX {
        return Err(ApiError::question(format!("width x height: at most {CELLS_MAX} cells")));
    }
    let began_ns = chronoscope_clock::monotonic_ns();
    api.ask(id, move |api, progress| {
        let found =
            of_view((api, progress), |view, asking| view.scatter(&question, raster, asking))?;
        Ok(Scatter { elapsed_ms: elapsed_ms(began_ns), ..view(&found, raster, scale) })
    })
    .await
}

fn view(found: &chronoscope_query::Scatter, raster: Raster, scale: AxisScale) -> Scatter {
    let mut cells = Cells::default();
    for cell in &found.cells {
        cells.x.push(cell.x);
        cells.y.push(cell.y);
        cells.count.push(cell.count);
        cells.path.push(cell.path);
    }
    let mut extremes = Extremes::default();
    for extreme in &found.extremes {
        extremes.x.push(extreme.x);
        extremes.min_ns.push(extreme.min_ns);
        extremes.max_ns.push(extreme.max.duration_ns);
        extremes.max_start_ns.push(extreme.max.start_ns.abs_diff(found.start_ns.start));
        extremes.max_chain.push(extreme.max_chain.map(|id| id.to_string()));
    }
    let gap = |gap: &chronoscope_query::Gap| Gap {
        from_ns: gap.start_ns.start,
        until_ns: gap.start_ns.end,
        lost_rows: gap.lost_rows,
        what: gap.what.clone(),
    };
    let path = |path: &chronoscope_query::ScatterPath| ScatterPath {
        path: path.path.clone(),
        level: path.level,
        count: path.count,
    };
    let edges_ns = found.rows.all().to_vec();
    Scatter {
        from_ns: found.start_ns.start,
        until_ns: found.start_ns.end,
        min_ns: edges_ns[0],
        max_ns: edges_ns[raster.height] - 1,
        scale,
        width: raster.width,
        height: raster.height,
        edges_ns,
        total: found.total,
        paths: found.paths.iter().map(path).collect(),
        cells,
        extremes,
        incomplete: Columns {
            x: found.incomplete.iter().map(|(x, _)| *x).collect(),
            count: found.incomplete.iter().map(|(_, count)| *count).collect(),
        },
        gaps: found.gaps.iter().map(gap).collect(),
        clocks: found.clocks.as_ref().map(ClockNote::from),
        read_rows: found.rows_read,
        elapsed_ms: 0,
    }
}
