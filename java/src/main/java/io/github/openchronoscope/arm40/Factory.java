package io.github.openchronoscope.arm40;

import org.opengroup.arm40.transaction.ArmErrorCallback;

/** Base of the three factories. */
abstract class Factory extends ArmObject {
    Factory() {
        super(new Listener());
    }

    /**
     * An object is ready. A fault of the arguments is the object's error code and the
     * factory's.
     */
    final <T extends ArmObject> T made(T object, Problem problem, String method) {
        object.setErrorCode(problem.code());
        result(problem.code(), method);
        return object;
    }

    /** See {@code ArmTransactionFactory.setErrorCallback}. */
    public final boolean setErrorCallback(ArmErrorCallback errorCallback) {
        listener.callback = errorCallback;
        ok();
        return true;
    }
}
