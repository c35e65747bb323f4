package io.github.openchronoscope.arm40;

import org.opengroup.arm40.metric.ArmMetricGroup;
import org.opengroup.arm40.metric.ArmTranReportWithMetrics;
import org.opengroup.arm40.metric.ArmTransactionWithMetricsDefinition;
import org.opengroup.arm40.tranreport.ArmTranReport;
import org.opengroup.arm40.transaction.ArmApplication;
import org.opengroup.arm40.transaction.ArmConstants;
import org.opengroup.arm40.transaction.ArmCorrelator;
import org.opengroup.arm40.transaction.ArmTransactionDefinition;

/** Transactions that somebody else measured. */
class TranReport extends Instance implements ArmTranReport {
    private int status = ArmConstants.STATUS_INVALID;
    private long responseNanos;
    private Correlator parent;
    private Correlator correlator;
    /** Whether the correlator belongs to the transaction that is reported next. */
    private boolean isGenerated;

    TranReport(Listener listener, ArmApplication application, ArmTransactionDefinition definition,
            Problem problem) {
        this(listener, application, TransactionDefinition.given(definition, listener, problem),
                null, problem);
    }

    private TranReport(Listener listener, ArmApplication application,
            TransactionDefinition definition, MetricGroup metrics, Problem problem) {
        super(listener, application, definition, metrics, problem);
    }

    @Override
    public final ArmCorrelator generateCorrelator() {
        ErrorCode obstacle = obstacle();
        byte[] bytes = new byte[ArmConstants.CORR_MAX_LENGTH];
        if (obstacle != null) {
            fail(obstacle, "generateCorrelator");
        } else {
            // Metrics belong to report() only.
            byte[] context = contextBytes();
            result(Native.generateCorrelator(application.handle, definition.high, definition.low,
                    0, parent == null ? null : parent.bytes, context,
                    context == null ? 0 : context.length, bytes),
                    "generateCorrelator");
        }
        Correlator made = Correlator.at(listener, bytes, 0);
        isGenerated = made != null;
        correlator = made == null ? Correlator.invalid(listener) : made;
        return correlator;
    }

    @Override
    public final int report(int newStatus, long respTime) {
        return report(newStatus, respTime, ArmConstants.USE_CURRENT_TIME, null);
    }

    @Override
    public final int report(int newStatus, long respTime, long stopTime) {
        return report(newStatus, respTime, stopTime, null);
    }

    @Override
    public final int report(int newStatus, long respTime, String diagnosticDetail) {
        return report(newStatus, respTime, ArmConstants.USE_CURRENT_TIME, diagnosticDetail);
    }

    @Override
    public final int report(
            int newStatus, long respTime, long stopTime, String diagnosticDetail) {
        ErrorCode obstacle = respTime < 0 ? ErrorCode.RESPONSE_TIME : obstacle();
        if (obstacle != null) {
            return fail(obstacle, "report");
        }
        Problem problem = new Problem();
        boolean isStatus = newStatus >= ArmConstants.STATUS_GOOD
                && newStatus <= ArmConstants.STATUS_UNKNOWN;
        if (!isStatus) {
            problem.add(ErrorCode.STATUS);
        }
        status = isStatus ? newStatus : ArmConstants.STATUS_UNKNOWN;
        responseNanos = respTime;
        Payload payload = payload(problem);
        if (diagnosticDetail != null) {
            payload.byteOf(Payload.DIAG_DETAIL).text(
                    problem.text(diagnosticDetail, ArmConstants.DIAG_DETAILS_MAX_LENGTH));
        }
        if (!isGenerated) {
            correlator = null;
        }
        isGenerated = false;
        int result = Native.report(application.handle, definition.high, definition.low, status,
                respTime, stopTime, parent == null ? null : parent.bytes,
                correlator == null ? null : correlator.bytes, payload.bytes, payload.length);
        return result(result < 0 ? result : problem.code(), "report");
    }

    @Override
    public final int setParentCorrelator(ArmCorrelator newParent) {
        boolean isUsable = newParent == null
                || newParent instanceof Correlator && ((Correlator) newParent).isValid();
        parent = isUsable ? (Correlator) newParent : null;
        return isUsable ? ok() : fail(ErrorCode.CORRELATOR, "setParentCorrelator");
    }

    @Override
    public final ArmCorrelator getCorrelator() {
        return correlator;
    }

    @Override
    public final ArmCorrelator getParentCorrelator() {
        return parent;
    }

    @Override
    public final long getResponseTime() {
        return responseNanos;
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
        return "ArmTranReport";
    }

    /** One with metrics. */
    static final class WithMetrics extends TranReport implements ArmTranReportWithMetrics {
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
            return "ArmTranReportWithMetrics";
        }
    }
}
