package org.opengroup.arm40.transaction;

/**
 * The token that travels with a message, so that the receiver's transaction knows its parent.
 * Bytes 0 and 1 are the length in network byte order, in [4, 512]; byte 2 is the format, byte 3
 * the flags; the rest is opaque.
 */
public interface ArmCorrelator extends ArmToken {
    /**
     * Whether the agent asked for a trace.
     *
     * @return the flag
     */
    boolean isAgentTrace();

    /**
     * Whether the application asked for a trace.
     *
     * @return the flag
     */
    boolean isApplicationTrace();

    /**
     * Whether the sender does not wait for what is started under this correlator. An addition of
     * ARM 4.1, with the names that its implementations use.
     *
     * @return the flag
     */
    boolean isAsynchronous();

    /**
     * Whether the status of what is started under this correlator does not touch the sender's. An
     * addition of ARM 4.1.
     *
     * @return the flag
     */
    boolean isIndependentTran();

    /**
     * Says whether the sender waits. An addition of ARM 4.1. To be called before the correlator is
     * sent.
     *
     * @param asynchronous true: it does not wait
     * @return 0, or a negative error code
     */
    int setAsynchronous(boolean asynchronous);

    /**
     * Says whether the receiver's status touches the sender's. An addition of ARM 4.1. To be
     * called before the correlator is sent.
     *
     * @param independent true: it does not
     * @return 0, or a negative error code
     */
    int setIndependentTran(boolean independent);
}
