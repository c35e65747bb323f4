package org.opengroup.arm40.tranreport;

import org.opengroup.arm40.transaction.ArmApplication;

/** An instance of an application on another system, for which transactions are reported. */
public interface ArmApplicationRemote extends ArmApplication {
    /**
     * Where it runs.
     *
     * @return the address; null for this system
     */
    ArmSystemAddress getSystemAddress();
}
