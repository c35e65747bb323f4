/* A root with two children that fail: a view that the root does not depend on, marked independent by
   ARM 4.1, with a child of its own that fails as well; and, with the argument "depends", a part that
   the root depends on. */
#include <arm41.h>
#include <stdio.h>
#include <string.h>

static arm_app_start_handle_t app;
static int failures;

static void expect(arm_error_t code, const char *what) {
  if (code != 0) {
    printf("FAILED: %s: %d\n", what, (int)code);
    failures++;
  }
}

static arm_tran_start_handle_t start(const arm_id_t *app_id, const char *name,
                                     const arm_correlator_t *parent, arm_correlator_t *own) {
  arm_id_t id;
  arm_tran_start_handle_t handle;
  expect(arm_register_transaction(app_id, name, ARM_ID_NONE, ARM_FLAG_NONE, ARM_BUF4_NONE, &id),
         name);
  expect(arm_start_transaction(app, &id, parent, ARM_FLAG_NONE, ARM_BUF4_NONE, &handle, own), name);
  return handle;
}

static void stop(arm_tran_start_handle_t handle, arm_tran_status_t status) {
  expect(arm_stop_transaction(handle, status, ARM_FLAG_NONE, ARM_BUF4_NONE), "stop");
}

int main(int argc, char **argv) {
  arm_id_t app_id;
  arm_correlator_t root_corr, view_corr, other_corr, sent;
  arm_tran_start_handle_t root, view, pixel;

  expect(arm_register_application("Shop", ARM_ID_NONE, ARM_FLAG_NONE, ARM_BUF4_NONE, &app_id),
         "application");
  expect(arm_start_application(&app_id, ARM_STRING_NONE, ARM_STRING_NONE, ARM_FLAG_NONE,
                               ARM_BUF4_NONE, &app), "application's start");
  root = start(&app_id, "order", ARM_CORR_NONE, &root_corr);
  sent = root_corr;
  ARM_SET_CORRELATOR_FLAG(&sent, ARM_CORR_FLAGNUM_INDEPENDENT, ARM_TRUE);
  view = start(&app_id, "view", &sent, &view_corr);
  pixel = start(&app_id, "pixel", &view_corr, &other_corr);
  stop(pixel, ARM_STATUS_ABORTED);
  stop(view, ARM_STATUS_FAILED);
  if (argc > 1 && strcmp(argv[1], "depends") == 0) {
    stop(start(&app_id, "payment", &root_corr, &other_corr), ARM_STATUS_FAILED);
  }
  stop(root, ARM_STATUS_GOOD);
  expect(arm_stop_application(app, ARM_FLAG_NONE, ARM_BUF4_NONE), "application's stop");
  expect(arm_destroy_application(&app_id, ARM_FLAG_NONE, ARM_BUF4_NONE), "destroy");
  return failures != 0;
}
