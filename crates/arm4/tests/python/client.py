"""An ARM client that is not ours, the package Arm4, over the library: most of what it offers."""
import arm4
import time

arm4.enable_exceptions(1)  # a negative code ends the program

identity = arm4.ArmSubbufferAppIdentity()
identity.set_context_name(0, "config")
buffer = arm4.ArmBuffer()
buffer.add_subbuffer(identity)
app = arm4.register_application("Python", buffer)

plots = arm4.register_metric(app, "plots", arm4.ARM_METRIC_FORMAT_GAUGE32,
                             arm4.ARM_METRIC_USE_GENERAL, "count")
bindings = arm4.ArmSubbufferMetricBindings()
bindings.bind(0, plots)
tran_identity = arm4.ArmSubbufferTranIdentity()
tran_identity.set_context_name(0, "sensor")
buffer = arm4.ArmBuffer()
buffer.add_subbuffer(bindings)
buffer.add_subbuffer(tran_identity)
parent_id = arm4.register_transaction(app, "parent", buffer)
child_id = arm4.register_transaction(app, "child")
told_id = arm4.register_transaction(app, "told")
never_id = arm4.register_transaction(app, "never")

context = arm4.ArmSubbufferAppContext()
context.set_context_value(0, "fast")
buffer = arm4.ArmBuffer()
buffer.add_subbuffer(context)
handle = arm4.start_application(app, "group", "instance", buffer)

arrival = arm4.get_arrival_time()
time.sleep(0.02)
values = arm4.ArmSubbufferMetricValues()
values.set_value(0, arm4.ARM_METRIC_FORMAT_GAUGE32, arm4.ARM_METRIC_USE_GENERAL, 12)
user = arm4.ArmSubbufferUser()
user.set_user("controller")
tran_context = arm4.ArmSubbufferTranContext()
tran_context.set_context_value(0, "RDR-3")
arrived = arm4.ArmSubbufferArrivalTime()
arrived.set_arrival_time(arrival)
buffer = arm4.ArmBuffer()
for sub_buffer in (values, user, tran_context, arrived):
    buffer.add_subbuffer(sub_buffer)
correlator = arm4.ArmCorrelator()
parent = arm4.start_transaction(handle, parent_id, correlator=correlator,
                                flags=arm4.ARM_FLAG_TRACE_REQUEST, buffer=buffer)
assert 48 <= correlator.length() <= 512, correlator.length()
arm4.bind_thread(parent)
child = arm4.start_transaction(handle, child_id, parent=correlator)
block = arm4.block_transaction(child)
arm4.unblock_transaction(child, block)
detail = arm4.ArmSubbufferDiagDetail()
detail.set_detail("no answer")
buffer = arm4.ArmBuffer()
buffer.add_subbuffer(detail)
arm4.stop_transaction(child, arm4.ARM_STATUS_FAILED, buffer)
arm4.update_transaction(parent)
arm4.unbind_thread(parent)
arm4.stop_transaction(parent)

own = arm4.generate_correlator(handle, told_id, parent=correlator)
arm4.report_transaction(handle, told_id, 3000000, -1, parent=correlator, correlator=own)
arm4.discard_transaction(arm4.start_transaction(handle, never_id))
arm4.stop_application(handle)
arm4.destroy_application(app)
