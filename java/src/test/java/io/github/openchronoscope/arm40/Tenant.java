package io.github.openchronoscope.arm40;

import org.opengroup.arm40.transaction.ArmConstants;
import org.opengroup.arm40.transaction.ArmTransaction;

/** One of several applications in a JVM, each with a class loader of its own. */
public final class Tenant implements Runnable {
    /** For the class loader. */
    public Tenant() {}

    /** One transaction; throws when it did not work. */
    @Override
    public void run() {
        ArmTransaction transaction = new Arm("Tenant").newTransaction("tenant");
        if (transaction.start() != 0 || transaction.stop(ArmConstants.STATUS_GOOD) != 0) {
            throw new IllegalStateException("error " + transaction.getErrorCode());
        }
    }
}
