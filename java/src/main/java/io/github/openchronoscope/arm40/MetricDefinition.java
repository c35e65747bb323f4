package io.github.openchronoscope.arm40;

import org.opengroup.arm40.metric.ArmMetricDefinition;
import org.opengroup.arm40.transaction.ArmApplicationDefinition;
import org.opengroup.arm40.transaction.ArmConstants;
import org.opengroup.arm40.transaction.ArmID;

/** A registered metric. */
abstract class MetricDefinition extends ArmObject implements ArmMetricDefinition {
    final MetricKind kind;
    private final ApplicationDefinition application;
    private final String name;
    private final String units;
    private final short usage;
    private final Id id;
    /** The library's id of the definition, in two halves. */
    final long high;
    final long low;
    private final boolean isRegistered;

    MetricDefinition(MetricKind kind, Listener listener, ArmApplicationDefinition application,
            String name, String units, short usage, ArmID id, Problem problem) {
        super(listener);
        this.kind = kind;
        this.application = ApplicationDefinition.given(application, listener, problem);
        this.name = problem.name(name);
        this.units = problem.text(units, ArmConstants.NAME_MAX_LENGTH);
        this.usage = usage;
        this.id = Id.given(id, problem);
        if (!kind.allows(usage)) {
            problem.add(ErrorCode.USAGE);
        }
        long[] registered = new long[2];
        if (this.application.isRegistered() && !this.name.isEmpty() && kind.allows(usage)) {
            Payload payload = new Payload().text(name).text(this.units);
            problem.add(Native.registerMetric(this.application.high, this.application.low,
                    kind.format, usage, payload.bytes, payload.length, Id.bytesOf(this.id),
                    registered));
        }
        this.isRegistered = Id.isOne(registered);
        this.high = registered[0];
        this.low = registered[1];
    }

    final boolean isRegistered() {
        return isRegistered;
    }

    @Override
    public final String getName() {
        return name;
    }

    @Override
    public final String getUnits() {
        return units;
    }

    @Override
    public final short getUsage() {
        return usage;
    }

    @Override
    public final ArmID getID() {
        return id;
    }

    @Override
    final String interfaceName() {
        return "ArmMetricDefinition";
    }
}
