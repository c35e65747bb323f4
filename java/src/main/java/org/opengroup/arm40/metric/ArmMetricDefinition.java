package org.opengroup.arm40.metric;

import org.opengroup.arm40.transaction.ArmID;
import org.opengroup.arm40.transaction.ArmInterface;

/** What a metric is: its name, its units, what it is good for. Immutable. */
public interface ArmMetricDefinition extends ArmInterface {
    /** Usage: nothing in particular. */
    short METRIC_USE_GENERAL = 0;

    /** Usage: the size of the transaction; for counters and gauges. */
    short METRIC_USE_TRAN_SIZE = 1;

    /** Usage: a status, as an error code; for numeric ids and texts. */
    short METRIC_USE_TRAN_STATUS = 2;

    /**
     * The name.
     *
     * @return the name; empty in an object that came from invalid arguments
     */
    String getName();

    /**
     * The units.
     *
     * @return what was given, or null
     */
    String getUnits();

    /**
     * What it is good for.
     *
     * @return one of the constants; negative numbers are for implementations
     */
    short getUsage();

    /**
     * The id.
     *
     * @return what was given, or null
     */
    ArmID getID();
}
