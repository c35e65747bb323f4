package io.github.openchronoscope.arm40;

import org.opengroup.arm40.transaction.ArmApplicationDefinition;
import org.opengroup.arm40.transaction.ArmID;
import org.opengroup.arm40.transaction.ArmIdentityProperties;

/** A registered application. */
final class ApplicationDefinition extends ArmObject implements ArmApplicationDefinition {
    private final String name;
    private final IdentityProperties properties;
    private final Id id;
    /** The library's id of the definition, in two halves. */
    final long high;
    final long low;
    /** Whether the definition is registered with the library. */
    private volatile boolean isRegistered;

    ApplicationDefinition(Listener listener, String name, ArmIdentityProperties properties,
            ArmID id, Problem problem) {
        super(listener);
        this.name = problem.name(name);
        if (properties != null && !(properties instanceof IdentityProperties)) {
            problem.add(ErrorCode.INVALID_OBJECT);
        }
        this.properties =
                properties instanceof IdentityProperties ? (IdentityProperties) properties : null;
        this.id = Id.given(id, problem);
        long[] registered = new long[2];
        if (!Native.LOADED) {
            problem.add(ErrorCode.NOT_LOADED);
        } else if (!this.name.isEmpty()) {
            Payload payload = new Payload().text(name);
            if (this.properties != null) {
                payload.byteOf(Payload.APP_IDENTITY);
                this.properties.write(payload);
            }
            problem.add(Native.registerApplication(
                    payload.bytes, payload.length, Id.bytesOf(this.id), registered));
            isRegistered = Id.isOne(registered);
        }
        this.high = registered[0];
        this.low = registered[1];
    }

    /** Stands for a definition that is none. */
    static ApplicationDefinition invalid(Listener listener) {
        return new ApplicationDefinition(listener, null, null, null, new Problem());
    }

    /** The application's definition, or a placeholder for an invalid one. */
    static ApplicationDefinition given(
            ArmApplicationDefinition definition, Listener listener, Problem problem) {
        if (definition instanceof ApplicationDefinition) {
            ApplicationDefinition own = (ApplicationDefinition) definition;
            if (!own.isRegistered) {
                problem.add(ErrorCode.INVALID_OBJECT);
            }
            return own;
        }
        problem.add(
                definition == null ? ErrorCode.NULL_ARGUMENT : ErrorCode.INVALID_OBJECT);
        return invalid(listener);
    }

    boolean isRegistered() {
        return isRegistered;
    }

    @Override
    public void destroy() {
        if (!isRegistered) {
            fail(ErrorCode.INVALID_OBJECT, "destroy");
            return;
        }
        isRegistered = false;
        result(Native.destroyApplication(high, low), "destroy");
    }

    @Override
    public String getName() {
        return name;
    }

    @Override
    public ArmIdentityProperties getIdentityProperties() {
        return properties;
    }

    @Override
    public ArmID getID() {
        return id;
    }

    @Override
    String interfaceName() {
        return "ArmApplicationDefinition";
    }
}
