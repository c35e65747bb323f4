package org.opengroup.arm40.transaction;

/**
 * Bytes that identify something: an id, a correlator, a system address. Two tokens are equal when
 * they are of one kind, with the same bytes and the same further data; hash codes follow.
 */
public interface ArmToken extends ArmInterface {
    /**
     * Copies the bytes to the beginning of an array.
     *
     * @param dest at least {@link #getLength} long
     * @return false, with nothing copied, when it is null or too short
     */
    boolean copyBytes(byte[] dest);

    /**
     * Copies the bytes into an array.
     *
     * @param dest the array
     * @param offset where the first byte goes
     * @return false, with nothing copied, when the bytes do not fit there
     */
    boolean copyBytes(byte[] dest, int offset);

    /**
     * A copy of the bytes.
     *
     * @return a new array
     */
    byte[] getBytes();

    /**
     * How many bytes there are.
     *
     * @return the length in bytes
     */
    int getLength();
}
