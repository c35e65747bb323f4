package org.opengroup.arm40.transaction;

/**
 * What almost every ARM object can do: say how its last method went. A method never throws; it
 * sets the error code of its object to 0, or to a negative number when something was wrong. When
 * several threads use one object at once, the code may be that of another thread's call.
 */
public interface ArmInterface {
    /**
     * The error code that the last method of this object set.
     *
     * @return 0, or a negative error code
     */
    int getErrorCode();

    /**
     * Sets the error code, typically to 0 in a callback that has dealt with an error.
     *
     * @param errorCode the code that {@link #getErrorCode} returns from now on
     * @return the code set
     */
    int setErrorCode(int errorCode);

    /**
     * What an error code means. Leaves the error code alone.
     *
     * @param errorCode a code that an object of this implementation returned
     * @return a sentence; null for 0 and for unknown codes
     */
    String getErrorMessage(int errorCode);
}
