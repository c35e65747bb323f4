package io.github.openchronoscope.arm40;

import org.opengroup.arm40.transaction.ArmApplication;
import org.opengroup.arm40.transaction.ArmConstants;
import org.opengroup.arm40.transaction.ArmUser;

/**
 * What a measured transaction and a reported one have in common: their class, and what is said
 * about the instance.
 */
abstract class Instance extends ArmObject {
    final Application application;
    final TransactionDefinition definition;
    /** Null where there are none. */
    final MetricGroup metrics;
    private String[] contextValues;
    private String uri;
    private User user;
    /** Context and user as the library takes them, made anew when one of them changes. */
    private byte[] context;

    Instance(Listener listener, ArmApplication application, TransactionDefinition definition,
            MetricGroup metrics, Problem problem) {
        super(listener);
        this.application = Application.given(application, listener, problem);
        this.definition = definition;
        this.metrics = metrics;
    }

    /** Why nothing can be measured: an invalid object or an ended application; else null. */
    final ErrorCode obstacle() {
        if (!Native.LOADED) {
            return ErrorCode.NOT_LOADED;
        }
        if (!definition.isRegistered()) {
            return ErrorCode.INVALID_OBJECT;
        }
        return application.isRunning() ? null : ErrorCode.ENDED;
    }

    /** Context and user, or null. */
    final byte[] contextBytes() {
        return context;
    }

    /** Context, user and metrics; a metric that C cannot express is a problem. */
    final Payload payload(Problem problem) {
        Payload payload = new Payload(context);
        writeMetrics(payload, problem);
        return payload;
    }

    final void writeMetrics(Payload payload, Problem problem) {
        if (metrics != null && !metrics.write(payload)) {
            problem.add(ErrorCode.METRIC_VALUE);
        }
    }

    private void describe() {
        Payload payload = new Payload();
        if (contextValues != null || uri != null) {
            int count = contextValues == null ? 0 : contextValues.length;
            payload.byteOf(Payload.TRAN_CONTEXT).byteOf(count);
            for (int i = 0; i < count; i++) {
                payload.text(contextValues[i]);
            }
            payload.text(uri);
        }
        if (user != null) {
            user.write(payload);
        }
        context = payload.toBytes();
    }

    /** See {@code ArmTransaction.getApplication}. */
    public final ArmApplication getApplication() {
        return application;
    }

    /** See {@code ArmTransaction.getContextURIValue}. */
    public final String getContextURIValue() {
        return uri;
    }

    /** See {@code ArmTransaction.getContextValue}. */
    public final String getContextValue(int index) {
        String[] values = contextValues;
        return values != null && index >= 0 && index < values.length ? values[index] : null;
    }

    /** See {@code ArmTransaction.getUser}. */
    public final ArmUser getUser() {
        return user;
    }

    /** See {@code ArmTransaction.setContextURIValue}. */
    public final int setContextURIValue(String value) {
        Problem problem = new Problem();
        uri = problem.text(value, ArmConstants.PROPERTY_URI_MAX_LENGTH);
        describe();
        return result(problem.code(), "setContextURIValue");
    }

    /** See {@code ArmTransaction.setContextValue}. */
    public final int setContextValue(int index, String value) {
        if (index < 0 || index > ArmConstants.PROPERTY_MAX_INDEX) {
            return fail(ErrorCode.INDEX, "setContextValue");
        }
        if (!definition.hasContextName(index)) {
            return fail(ErrorCode.CONTEXT_NAME, "setContextValue");
        }
        Problem problem = new Problem();
        String[] values = contextValues == null
                ? new String[ArmConstants.PROPERTY_MAX_COUNT]
                : contextValues.clone();
        values[index] = problem.text(value, ArmConstants.PROPERTY_VALUE_MAX_LENGTH);
        contextValues = values;
        describe();
        return result(problem.code(), "setContextValue");
    }

    /** See {@code ArmTransaction.setUser}. */
    public final int setUser(ArmUser newUser) {
        if (newUser != null && !(newUser instanceof User && ((User) newUser).isValid())) {
            return fail(ErrorCode.INVALID_OBJECT, "setUser");
        }
        user = (User) newUser;
        describe();
        return ok();
    }
}
