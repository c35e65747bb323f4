package io.github.openchronoscope.arm40;

import java.lang.System.Logger.Level;
import org.opengroup.arm40.transaction.ArmErrorCallback;
import org.opengroup.arm40.transaction.ArmInterface;

/** Base of all our objects: keeps an error code, and calls the factory's callback. */
abstract class ArmObject implements ArmInterface {
    /** Receiver of errors: one for a factory and all objects that it makes. */
    static final class Listener {
        volatile ArmErrorCallback callback;
    }

    final Listener listener;
    private int errorCode;

    ArmObject(Listener listener) {
        this.listener = listener;
    }

    @Override
    public final int getErrorCode() {
        return errorCode;
    }

    @Override
    public final int setErrorCode(int code) {
        errorCode = code;
        return code;
    }

    @Override
    public final String getErrorMessage(int code) {
        return ErrorCode.messageOf(code);
    }

    /** The interface that a method belongs to, for the callback. */
    abstract String interfaceName();

    /** All went well. */
    final int ok() {
        errorCode = 0;
        return 0;
    }

    final int fail(ErrorCode error, String method) {
        return fail(error.code(), interfaceName(), method);
    }

    /** The result of a call into the library: only what is negative is an error. */
    final int result(int code, String method) {
        return code < 0 ? fail(code, interfaceName(), method) : ok();
    }

    /**
     * Sets the error code and tells the callback, which may set another one; that one is returned.
     */
    final int fail(int code, String interfaceName, String method) {
        errorCode = code;
        ArmErrorCallback callback = listener.callback;
        if (callback != null) {
            try {
                callback.errorCodeSet(this, interfaceName, method);
            } catch (RuntimeException | Error thrown) {
                System.getLogger("io.github.openchronoscope.arm40").log(
                        Level.WARNING, "an ArmErrorCallback threw " + thrown, thrown);
            }
        }
        return errorCode;
    }
}
