package org.opengroup.arm40.transaction;

/**
 * A piece of work while it is done. The object can be used again for the next one, once stopped.
 * The setters may be called at any time; their values count for what is started afterwards.
 */
public interface ArmTransaction extends ArmInterface {
    /**
     * Says that the calling thread works for this transaction from now on.
     *
     * @return 0, or a negative error code
     */
    int bindThread();

    /**
     * Says that the transaction waits for something outside. Several such waits may be open.
     *
     * @return the handle for {@link #unblocked}, or a negative error code
     */
    long blocked();

    /**
     * The application instance.
     *
     * @return the instance
     */
    ArmApplication getApplication();

    /**
     * The URI of this instance.
     *
     * @return what was set, or null
     */
    String getContextURIValue();

    /**
     * The value of a context property.
     *
     * @param index in [0, 19]
     * @return what was set, or null
     */
    String getContextValue(int index);

    /**
     * The correlator to send along, after start().
     *
     * @return the correlator of what was started last; null when nothing was, and after reset()
     */
    ArmCorrelator getCorrelator();

    /**
     * The correlator that start() was given.
     *
     * @return the correlator, or null
     */
    ArmCorrelator getParentCorrelator();

    /**
     * How it ended.
     *
     * @return the status of the last stop(); STATUS_INVALID before, and while it executes
     */
    int getStatus();

    /**
     * The transaction class.
     *
     * @return the definition
     */
    ArmTransactionDefinition getDefinition();

    /**
     * The user.
     *
     * @return what was set, or null
     */
    ArmUser getUser();

    /**
     * Whether a trace is asked for.
     *
     * @return what was set last
     */
    boolean isTraceRequested();

    /**
     * Discards the transaction if it is executing, as if it had never been started.
     *
     * @return 0, or a negative error code
     */
    int reset();

    /**
     * Takes the present instant for the beginning of what is started next, however late start()
     * follows.
     *
     * @return 0, or a negative error code
     */
    int setArrivalTime();

    /**
     * Sets the URI of this instance.
     *
     * @param value at most 4095 characters; null for none
     * @return 0, or a negative error code
     */
    int setContextURIValue(String value);

    /**
     * Sets the value of a context property, whose name is at the same index in the definition.
     *
     * @param index in [0, 19], with a name
     * @param value at most 255 characters; null for none
     * @return 0, or a negative error code
     */
    int setContextValue(int index, String value);

    /**
     * Asks for a trace, or no longer.
     *
     * @param traceState whether to ask for one
     * @return 0, or a negative error code
     */
    int setTraceRequested(boolean traceState);

    /**
     * Sets the user.
     *
     * @param user null for none
     * @return 0, or a negative error code
     */
    int setUser(ArmUser user);

    /**
     * Starts as the root of a chain.
     *
     * @return 0, or a negative error code
     */
    int start();

    /**
     * Starts under the sender of a correlator.
     *
     * @param parentCorr begins with a correlator; null for none
     * @return 0, or a negative error code
     */
    int start(byte[] parentCorr);

    /**
     * Starts under the sender of a correlator.
     *
     * @param parentCorr contains a correlator; null for none
     * @param offset where it begins
     * @return 0, or a negative error code
     */
    int start(byte[] parentCorr, int offset);

    /**
     * Starts under the sender of a correlator.
     *
     * @param parentCorr null for none
     * @return 0, or a negative error code
     */
    int start(ArmCorrelator parentCorr);

    /**
     * Stops.
     *
     * @param status STATUS_GOOD, STATUS_ABORT, STATUS_FAILED or STATUS_UNKNOWN
     * @return 0, or a negative error code
     */
    int stop(int status);

    /**
     * Stops, and says why it went wrong.
     *
     * @param status STATUS_GOOD, STATUS_ABORT, STATUS_FAILED or STATUS_UNKNOWN
     * @param diagnosticDetail at most 4095 characters; null for none
     * @return 0, or a negative error code
     */
    int stop(int status, String diagnosticDetail);

    /**
     * Says that the calling thread no longer works for this transaction.
     *
     * @return 0, or a negative error code
     */
    int unbindThread();

    /**
     * Says that a wait is over.
     *
     * @param blockHandle what {@link #blocked} returned
     * @return 0, or a negative error code
     */
    int unblocked(long blockHandle);

    /**
     * Says that the transaction goes on, and how its metrics are by now.
     *
     * @return 0, or a negative error code
     */
    int update();
}
