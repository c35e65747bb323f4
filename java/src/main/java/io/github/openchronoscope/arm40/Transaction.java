package io.github.openchronoscope.arm40;

import org.opengroup.arm40.metric.ArmMetricGroup;
import org.opengroup.arm40.metric.ArmTransactionWithMetrics;
import org.opengroup.arm40.metric.ArmTransactionWithMetricsDefinition;
import org.opengroup.arm40.transaction.ArmApplication;
import org.opengroup.arm40.transaction.ArmConstants;
import org.opengroup.arm40.transaction.ArmCorrelator;
import org.opengroup.arm40.transaction.ArmTransaction;
import org.opengroup.arm40.transaction.ArmTransactionDefinition;

/**
 * A transaction, one after the other.
 *
 * <p>Only one thread at a time should use it, as the specification says. Where several do, what is
 * recorded is unpredictable, but nothing breaks: the library recognises stale handles.
 */
class Transaction extends Instance implements ArmTransaction {
    private static final int TRACE_REQUEST = 1;

    private long handle;
    private boolean isExecuting;
    private int status = ArmConstants.STATUS_INVALID;
    private int flags;
    private boolean hasArrived;
    private long arrivalTime;
    private Correlator parent;
    /** Buffer into which the library writes the correlator; its length is 0 when there is none. */
    private final byte[] correlatorBytes = new byte[ArmConstants.CORR_MAX_LENGTH];
    /** Made of the bytes when somebody asks. */
    private Correlator correlator;

    Transaction(Listener listener, ArmApplication application, ArmTransactionDefinition definition,
            Problem problem) {
        this(listener, application, TransactionDefinition.given(definition, listener, problem),
                null, problem);
    }

    private Transaction(Listener listener, ArmApplication application,
            TransactionDefinition definition, MetricGroup metrics, Problem problem) {
        super(listener, application, definition, metrics, problem);
    }

    @Override
    public final int start() {
        return begin(null, null);
    }

    @Override
    public final int start(byte[] parentCorr) {
        return start(parentCorr, 0);
    }

    @Override
    public final int start(byte[] parentCorr, int offset) {
        if (parentCorr == null) {
            return begin(null, null);
        }
        Correlator received = Correlator.at(listener, parentCorr, offset);
        return begin(received, received == null ? ErrorCode.CORRELATOR : null);
    }

    @Override
    public final int start(ArmCorrelator parentCorr) {
        if (parentCorr == null) {
            return begin(null, null);
        }
        boolean isUsable =
                parentCorr instanceof Correlator && ((Correlator) parentCorr).isValid();
        return begin(isUsable ? (Correlator) parentCorr : null,
                isUsable ? null : ErrorCode.CORRELATOR);
    }

    /** Starts whatever is wrong, if it can be: a transaction without parent is better than none. */
    private int begin(Correlator newParent, ErrorCode wrong) {
        ErrorCode obstacle = obstacle();
        if (obstacle != null) {
            return fail(obstacle, "start");
        }
        int error = wrong == null ? 0 : wrong.code();
        if (isExecuting) {
            error = ErrorCode.ALREADY_STARTED.code();
            Native.discard(handle);
        }
        parent = newParent;
        correlator = null;
        status = ArmConstants.STATUS_INVALID;
        if (newParent == null && !hasArrived && metrics == null && contextBytes() == null) {
            handle = Native.start(
                    application.handle, definition.high, definition.low, flags, correlatorBytes);
            if (handle == 0) {
                error = Native.lastError();
            }
        } else {
            Problem problem = new Problem();
            problem.add(error);
            startWith(newParent, problem);
            error = problem.code();
        }
        isExecuting = handle != 0;
        return result(error, "start");
    }

    private void startWith(Correlator newParent, Problem problem) {
        byte[] bytes = contextBytes();
        int length = bytes == null ? 0 : bytes.length;
        if (hasArrived || metrics != null) {
            Payload payload = payload(problem);
            if (hasArrived) {
                payload.byteOf(Payload.ARRIVAL_TIME).longOf(arrivalTime);
                hasArrived = false;
            }
            bytes = payload.bytes;
            length = payload.length;
        }
        handle = Native.startWith(application.handle, definition.high, definition.low, flags,
                newParent == null ? null : newParent.bytes, bytes, length, correlatorBytes);
        problem.add(Native.lastError());
    }

    @Override
    public final int stop(int newStatus) {
        return stop(newStatus, null);
    }

    @Override
    public final int stop(int newStatus, String diagnosticDetail) {
        if (!isExecuting) {
            return fail(ErrorCode.NOT_STARTED, "stop");
        }
        isExecuting = false;
        if (!application.isRunning()) { // end() discards what is executing
            Native.discard(handle);
            return fail(ErrorCode.ENDED, "stop");
        }
        boolean isStatus = newStatus >= ArmConstants.STATUS_GOOD
                && newStatus <= ArmConstants.STATUS_UNKNOWN;
        status = isStatus ? newStatus : ArmConstants.STATUS_UNKNOWN;
        if (metrics == null && diagnosticDetail == null && isStatus) {
            return result(Native.stop(handle, status), "stop");
        }
        return stopWith(diagnosticDetail, isStatus ? null : ErrorCode.STATUS);
    }

    private int stopWith(String diagnosticDetail, ErrorCode wrong) {
        Problem problem = new Problem();
        if (wrong != null) {
            problem.add(wrong);
        }
        Payload payload = new Payload();
        writeMetrics(payload, problem);
        if (diagnosticDetail != null) {
            payload.byteOf(Payload.DIAG_DETAIL).text(
                    problem.text(diagnosticDetail, ArmConstants.DIAG_DETAILS_MAX_LENGTH));
        }
        int result = Native.stopWith(handle, status, payload.bytes, payload.length);
        return result(result < 0 ? result : problem.code(), "stop");
    }

    @Override
    public final int update() {
        if (!isExecuting) {
            return fail(ErrorCode.NOT_STARTED, "update");
        }
        Problem problem = new Problem();
        Payload payload = new Payload();
        writeMetrics(payload, problem);
        int result = Native.update(handle, payload.bytes, payload.length);
        return result(result < 0 ? result : problem.code(), "update");
    }

    @Override
    public final int reset() {
        hasArrived = false;
        parent = null;
        correlator = null;
        correlatorBytes[0] = 0;
        correlatorBytes[1] = 0;
        status = ArmConstants.STATUS_INVALID;
        if (!isExecuting) {
            return ok();
        }
        isExecuting = false;
        return result(Native.discard(handle), "reset");
    }

    @Override
    public final long blocked() {
        if (!isExecuting) {
            return fail(ErrorCode.NOT_STARTED, "blocked");
        }
        long block = Native.block(handle);
        int result = result(Native.lastError(), "blocked");
        return block == 0 ? result : block;
    }

    @Override
    public final int unblocked(long blockHandle) {
        return isExecuting
                ? result(Native.unblock(handle, blockHandle), "unblocked")
                : fail(ErrorCode.NOT_STARTED, "unblocked");
    }

    @Override
    public final int bindThread() {
        return isExecuting
                ? result(Native.bindThread(handle), "bindThread")
                : fail(ErrorCode.NOT_STARTED, "bindThread");
    }

    @Override
    public final int unbindThread() {
        return isExecuting
                ? result(Native.unbindThread(handle), "unbindThread")
                : fail(ErrorCode.NOT_STARTED, "unbindThread");
    }

    @Override
    public final int setArrivalTime() {
        if (!Native.LOADED) {
            return fail(ErrorCode.NOT_LOADED, "setArrivalTime");
        }
        arrivalTime = Native.arrivalTime();
        hasArrived = true;
        return ok();
    }

    @Override
    public final boolean isTraceRequested() {
        return flags == TRACE_REQUEST;
    }

    @Override
    public final int setTraceRequested(boolean traceState) {
        flags = traceState ? TRACE_REQUEST : 0;
        return ok();
    }

    @Override
    public final ArmCorrelator getCorrelator() {
        if (correlator == null) {
            correlator = Correlator.at(listener, correlatorBytes, 0);
        }
        return correlator;
    }

    @Override
    public final ArmCorrelator getParentCorrelator() {
        return parent;
    }

    @Override
    public final int getStatus() {
        return status;
    }

    @Override
    public final ArmTransactionDefinition getDefinition() {
        return definition;
    }

    @Override
    String interfaceName() {
        return "ArmTransaction";
    }

    /** One with metrics. */
    static final class WithMetrics extends Transaction implements ArmTransactionWithMetrics {
        WithMetrics(Listener listener, ArmApplication application,
                ArmTransactionWithMetricsDefinition definition, ArmMetricGroup group,
                Problem problem) {
            this(listener, application,
                    TransactionWithMetricsDefinition.given(definition, listener, problem), group,
                    problem);
        }

        private WithMetrics(Listener listener, ArmApplication application,
                TransactionWithMetricsDefinition definition, ArmMetricGroup group,
                Problem problem) {
            super(listener, application, definition,
                    MetricGroup.given(group, definition, listener, problem), problem);
        }

        @Override
        public ArmTransactionWithMetricsDefinition getTransactionWithMetricsDefinition() {
            return (TransactionWithMetricsDefinition) definition;
        }

        @Override
        public ArmMetricGroup getMetricGroup() {
            return metrics;
        }

        @Override
        String interfaceName() {
            return "ArmTransactionWithMetrics";
        }
    }
}
