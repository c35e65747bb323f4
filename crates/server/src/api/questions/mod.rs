//! Questions about durations.

use super::Api;
use utoipa_axum::router::OpenApiRouter;

/// Their routes.
pub(super) fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
}
