/**
 * Chronoscope's implementation of {@code org.opengroup.arm40}, on the C library {@code libarm4}.
 *
 * <p>An application names the factories in system properties and sees only the interfaces:
 *
 * <pre>
 * -DArm40.ArmTransactionFactory=io.github.openchronoscope.arm40.TransactionFactory
 * -DArm40.ArmMetricFactory=io.github.openchronoscope.arm40.MetricFactory
 * -DArm40.ArmTranReportFactory=io.github.openchronoscope.arm40.TranReportFactory
 * </pre>
 *
 * <p>No method throws, blocks or fails its caller. What goes wrong is a negative error code of the
 * object, and where the library is missing everything does nothing and says so
 * ({@link io.github.openchronoscope.arm40.ErrorCode}). Starting and stopping is one call into the library
 * each and allocates nothing, unless there is context, a user, a metric or a diagnostic detail to
 * hand over. Objects hold no memory outside the Java heap.
 *
 * <p>Not here: anything that sends, stores or draws.
 */
package io.github.openchronoscope.arm40;
