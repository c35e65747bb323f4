package io.github.openchronoscope.arm40;

import org.opengroup.arm40.transaction.ArmApplicationDefinition;
import org.opengroup.arm40.transaction.ArmID;
import org.opengroup.arm40.transaction.ArmIdentityPropertiesTransaction;
import org.opengroup.arm40.transaction.ArmTransactionDefinition;

/** A registered transaction class. */
class TransactionDefinition extends ArmObject implements ArmTransactionDefinition {
    private final ApplicationDefinition application;
    private final String name;
    private final IdentityPropertiesTransaction properties;
    private final Id id;
    /** The library's id of the definition, in two halves. */
    final long high;
    final long low;
    private final boolean isRegistered;

    TransactionDefinition(Listener listener, ArmApplicationDefinition application, String name,
            ArmIdentityPropertiesTransaction properties, MetricGroupDefinition metrics, ArmID id,
            Problem problem) {
        super(listener);
        this.application = ApplicationDefinition.given(application, listener, problem);
        this.name = problem.name(name);
        if (properties != null && !(properties instanceof IdentityPropertiesTransaction)) {
            problem.add(ErrorCode.INVALID_OBJECT);
        }
        this.properties = properties instanceof IdentityPropertiesTransaction
                ? (IdentityPropertiesTransaction) properties
                : null;
        this.id = Id.given(id, problem);
        long[] registered = new long[2];
        if (this.application.isRegistered() && !this.name.isEmpty()) {
            Payload payload = payload(metrics);
            problem.add(Native.registerTransaction(this.application.high, this.application.low,
                    payload.bytes, payload.length, Id.bytesOf(this.id), registered));
        }
        this.isRegistered = Id.isOne(registered);
        this.high = registered[0];
        this.low = registered[1];
    }

    private Payload payload(MetricGroupDefinition metrics) {
        Payload payload = new Payload().text(name);
        if (properties != null) {
            payload.byteOf(Payload.TRAN_IDENTITY);
            properties.write(payload);
            payload.text(properties.getURIValue());
        }
        if (metrics != null) {
            metrics.write(payload);
        }
        return payload;
    }

    /** Stands for a definition that is none. */
    private static TransactionDefinition invalid(Listener listener) {
        return new TransactionDefinition(listener, null, null, null, null, null, new Problem());
    }

    /** The application's definition, or a placeholder for an invalid one. */
    static TransactionDefinition given(
            ArmTransactionDefinition definition, Listener listener, Problem problem) {
        if (definition instanceof TransactionDefinition) {
            TransactionDefinition own = (TransactionDefinition) definition;
            if (!own.isRegistered()) {
                problem.add(ErrorCode.INVALID_OBJECT);
            }
            return own;
        }
        problem.add(
                definition == null ? ErrorCode.NULL_ARGUMENT : ErrorCode.INVALID_OBJECT);
        return invalid(listener);
    }

    final boolean isRegistered() {
        return isRegistered && application.isRegistered();
    }

    /** Whether context values at an index have a name. */
    final boolean hasContextName(int index) {
        return properties != null && properties.getContextName(index) != null;
    }

    @Override
    public final ArmApplicationDefinition getApplicationDefinition() {
        return application;
    }

    @Override
    public final ArmID getID() {
        return id;
    }

    @Override
    public final ArmIdentityPropertiesTransaction getIdentityProperties() {
        return properties;
    }

    @Override
    public final String getName() {
        return name;
    }

    @Override
    String interfaceName() {
        return "ArmTransactionDefinition";
    }
}
