package io.github.openchronoscope.arm40;

import org.opengroup.arm40.transaction.ArmID;
import org.opengroup.arm40.transaction.ArmUser;

/** On whose behalf something is done. */
final class User extends ArmObject implements ArmUser {
    private final String name;
    private final Id id;

    User(Listener listener, String name, ArmID id, Problem problem) {
        super(listener);
        this.name = problem.name(name);
        this.id = Id.given(id, problem);
    }

    @Override
    public ArmID getID() {
        return id;
    }

    @Override
    public String getName() {
        return name;
    }

    boolean isValid() {
        return !name.isEmpty();
    }

    void write(Payload payload) {
        payload.byteOf(Payload.USER).text(name).id(id);
    }

    @Override
    String interfaceName() {
        return "ArmUser";
    }
}
