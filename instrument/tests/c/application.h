/* A measured program around what is tested: one transaction, bound to its thread. */
#ifndef CHRONOSCOPE_INSTRUMENT_TESTS_APPLICATION_H
#define CHRONOSCOPE_INSTRUMENT_TESTS_APPLICATION_H

#include <arm4.h>
#include <stddef.h>

static arm_tran_start_handle_t begin_application(const char *application, const char *transaction,
                                                 const arm_correlator_t *parent, arm_int32_t flags)
{
    arm_id_t id;
    arm_id_t class;
    arm_app_start_handle_t running;
    arm_tran_start_handle_t handle = 0;
    arm_register_application(application, ARM_ID_NONE, ARM_FLAG_NONE, ARM_BUF4_NONE, &id);
    arm_start_application(&id, NULL, NULL, ARM_FLAG_NONE, ARM_BUF4_NONE, &running);
    arm_register_transaction(&id, transaction, ARM_ID_NONE, ARM_FLAG_NONE, ARM_BUF4_NONE, &class);
    arm_start_transaction(running, &class, parent, flags, ARM_BUF4_NONE, &handle, ARM_CORR_NONE);
    return handle;
}

static void end_application(arm_tran_start_handle_t handle)
{
    arm_stop_transaction(handle, ARM_STATUS_GOOD, ARM_FLAG_NONE, ARM_BUF4_NONE);
}

#endif
