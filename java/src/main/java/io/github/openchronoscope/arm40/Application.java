package io.github.openchronoscope.arm40;

import org.opengroup.arm40.tranreport.ArmApplicationRemote;
import org.opengroup.arm40.tranreport.ArmSystemAddress;
import org.opengroup.arm40.transaction.ArmApplication;
import org.opengroup.arm40.transaction.ArmApplicationDefinition;
import org.opengroup.arm40.transaction.ArmConstants;

/** A started application instance. */
class Application extends ArmObject implements ArmApplication {
    private final ApplicationDefinition definition;
    private final String group;
    private final String instance;
    private final String[] contextValues;
    /** The library's handle. */
    final long handle;
    private volatile boolean isRunning;

    Application(Listener listener, ArmApplicationDefinition definition, String group,
            String instance, String[] contextValues, SystemAddress address, Problem problem) {
        super(listener);
        this.definition = ApplicationDefinition.given(definition, listener, problem);
        this.group = problem.text(group, ArmConstants.PROPERTY_VALUE_MAX_LENGTH);
        this.instance = problem.text(instance, ArmConstants.PROPERTY_VALUE_MAX_LENGTH);
        this.contextValues =
                problem.texts(contextValues, ArmConstants.PROPERTY_VALUE_MAX_LENGTH);
        if (this.definition.isRegistered()) {
            Payload payload = payload(address);
            handle = Native.startApplication(
                    this.definition.high, this.definition.low, payload.bytes, payload.length);
            problem.add(Native.lastError());
            isRunning = handle != 0;
        } else {
            handle = 0;
        }
    }

    private Payload payload(SystemAddress address) {
        Payload payload = new Payload().text(group).text(instance);
        if (contextValues.length > 0) {
            payload.byteOf(Payload.APP_CONTEXT).byteOf(contextValues.length);
            for (String value : contextValues) {
                payload.text(value);
            }
        }
        if (address != null) {
            address.write(payload);
        }
        return payload;
    }

    /** The given application, or a placeholder for an invalid one. */
    static Application given(ArmApplication application, Listener listener, Problem problem) {
        if (application instanceof Application) {
            Application own = (Application) application;
            if (!own.isRunning) {
                problem.add(ErrorCode.ENDED);
            }
            return own;
        }
        problem.add(
                application == null ? ErrorCode.NULL_ARGUMENT : ErrorCode.INVALID_OBJECT);
        return new Application(listener, null, null, null, null, null, new Problem());
    }

    final boolean isRunning() {
        return isRunning;
    }

    @Override
    public final int end() {
        if (!isRunning) {
            return fail(ErrorCode.ENDED, "end");
        }
        isRunning = false;
        return result(Native.stopApplication(handle), "end");
    }

    @Override
    public final String getContextValue(int index) {
        return index >= 0 && index < contextValues.length ? contextValues[index] : null;
    }

    @Override
    public final ArmApplicationDefinition getDefinition() {
        return definition;
    }

    @Override
    public final String getGroup() {
        return group;
    }

    @Override
    public final String getInstance() {
        return instance;
    }

    @Override
    String interfaceName() {
        return "ArmApplication";
    }

    /** One on another system. */
    static final class Remote extends Application implements ArmApplicationRemote {
        private final SystemAddress address;

        Remote(Listener listener, ArmApplicationDefinition definition, String group,
                String instance, String[] contextValues, SystemAddress address, Problem problem) {
            super(listener, definition, group, instance, contextValues, address, problem);
            this.address = address;
        }

        @Override
        public ArmSystemAddress getSystemAddress() {
            return address;
        }

        @Override
        String interfaceName() {
            return "ArmApplicationRemote";
        }
    }
}
