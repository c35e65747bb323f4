package org.opengroup.arm40.transaction;

/**
 * Implemented by the application, to hear about errors in one place. Registered with a factory;
 * called for the objects that the factory makes.
 */
public interface ArmErrorCallback {
    /**
     * A method has set a negative error code. What it throws is caught.
     *
     * @param errorObject the object, whose {@link ArmInterface#getErrorCode} says what is wrong
     * @param interfaceName the interface of this specification that the method belongs to
     * @param methodName the method
     */
    void errorCodeSet(ArmInterface errorObject, String interfaceName, String methodName);
}
