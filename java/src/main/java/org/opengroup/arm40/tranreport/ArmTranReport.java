package org.opengroup.arm40.tranreport;

import org.opengroup.arm40.transaction.ArmApplication;
import org.opengroup.arm40.transaction.ArmCorrelator;
import org.opengroup.arm40.transaction.ArmInterface;
import org.opengroup.arm40.transaction.ArmTransactionDefinition;
import org.opengroup.arm40.transaction.ArmUser;

/**
 * A piece of work that was measured by somebody else, and is reported when it is done. The setters
 * may be called at any time; their values count for the next generateCorrelator() or report().
 */
public interface ArmTranReport extends ArmInterface {
    /**
     * Makes the correlator of the transaction that is reported next, so that it can be sent
     * beforehand.
     *
     * @return a new correlator
     */
    ArmCorrelator generateCorrelator();

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
     * The correlator of the present transaction: of generateCorrelator(), also after the report()
     * that belongs to it.
     *
     * @return the correlator, or null
     */
    ArmCorrelator getCorrelator();

    /**
     * The correlator of the parent.
     *
     * @return what was set, or null
     */
    ArmCorrelator getParentCorrelator();

    /**
     * The elapsed time that was reported last.
     *
     * @return nanoseconds; 0 before the first report()
     */
    long getResponseTime();

    /**
     * The status that was reported last.
     *
     * @return the status; STATUS_INVALID before the first report()
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
     * Reports a transaction that ended now.
     *
     * @param status STATUS_GOOD, STATUS_ABORT, STATUS_FAILED or STATUS_UNKNOWN
     * @param respTime elapsed time in nanoseconds, at least 0
     * @return 0, or a negative error code
     */
    int report(int status, long respTime);

    /**
     * Reports a transaction.
     *
     * @param status STATUS_GOOD, STATUS_ABORT, STATUS_FAILED or STATUS_UNKNOWN
     * @param respTime elapsed time in nanoseconds, at least 0
     * @param stopTime when it ended, in milliseconds since 1970 UTC, or USE_CURRENT_TIME
     * @return 0, or a negative error code
     */
    int report(int status, long respTime, long stopTime);

    /**
     * Reports a transaction that ended now.
     *
     * @param status STATUS_GOOD, STATUS_ABORT, STATUS_FAILED or STATUS_UNKNOWN
     * @param respTime elapsed time in nanoseconds, at least 0
     * @param diagnosticDetail at most 4095 characters; null for none
     * @return 0, or a negative error code
     */
    int report(int status, long respTime, String diagnosticDetail);

    /**
     * Reports a transaction.
     *
     * @param status STATUS_GOOD, STATUS_ABORT, STATUS_FAILED or STATUS_UNKNOWN
     * @param respTime elapsed time in nanoseconds, at least 0
     * @param stopTime when it ended, in milliseconds since 1970 UTC, or USE_CURRENT_TIME
     * @param diagnosticDetail at most 4095 characters; null for none
     * @return 0, or a negative error code
     */
    int report(int status, long respTime, long stopTime, String diagnosticDetail);

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
     * Sets the correlator of the parent.
     *
     * @param parent null for none
     * @return 0, or a negative error code
     */
    int setParentCorrelator(ArmCorrelator parent);

    /**
     * Sets the user.
     *
     * @param user null for none
     * @return 0, or a negative error code
     */
    int setUser(ArmUser user);
}
