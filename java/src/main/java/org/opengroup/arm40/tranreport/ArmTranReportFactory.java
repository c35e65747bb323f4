package org.opengroup.arm40.tranreport;

import org.opengroup.arm40.transaction.ArmApplication;
import org.opengroup.arm40.transaction.ArmApplicationDefinition;
import org.opengroup.arm40.transaction.ArmErrorCallback;
import org.opengroup.arm40.transaction.ArmID;
import org.opengroup.arm40.transaction.ArmInterface;
import org.opengroup.arm40.transaction.ArmTransactionDefinition;

/**
 * Makes the objects of this package. A method given invalid arguments returns an object all the
 * same, whose methods can be called and whose error code, like the factory's, says what was wrong.
 */
public interface ArmTranReportFactory extends ArmInterface {
    /**
     * Name of the system property that holds the name of the implementing class, which has a
     * constructor without arguments.
     */
    String propertyKey = "Arm40.ArmTranReportFactory";

    /**
     * Begins an application instance on another system.
     *
     * @param definition what it is an instance of
     * @param group the group that it belongs to; null for none
     * @param instance which instance it is; null for none
     * @param contextValues values for the context names of the definition; null for none
     * @param systemAddress where it runs; null for this system
     * @return a new instance
     */
    ArmApplicationRemote newArmApplicationRemote(
            ArmApplicationDefinition definition, String group, String instance,
            String[] contextValues, ArmSystemAddress systemAddress);

    /**
     * Makes a system address.
     *
     * @param format a constant of {@link ArmSystemAddress}, or negative
     * @param addressBytes the address
     * @param id null for none
     * @return a new address
     */
    ArmSystemAddress newArmSystemAddress(short format, byte[] addressBytes, ArmID id);

    /**
     * Makes a system address.
     *
     * @param format a constant of {@link ArmSystemAddress}, or negative
     * @param addressBytes contains the address, which goes on to its end, or as far as the format
     *     says
     * @param offset where it begins
     * @param id null for none
     * @return a new address
     */
    ArmSystemAddress newArmSystemAddress(short format, byte[] addressBytes, int offset, ArmID id);

    /**
     * Makes a system address.
     *
     * @param format a constant of {@link ArmSystemAddress}, or negative
     * @param addressBytes contains the address
     * @param offset where it begins
     * @param length how many bytes it has
     * @param id null for none
     * @return a new address
     */
    ArmSystemAddress newArmSystemAddress(
            short format, byte[] addressBytes, int offset, int length, ArmID id);

    /**
     * Makes a report.
     *
     * @param app the application instance
     * @param definition the transaction class
     * @return a new report
     */
    ArmTranReport newArmTranReport(ArmApplication app, ArmTransactionDefinition definition);

    /**
     * Registers who hears about errors of this factory and of the objects that it made or makes.
     *
     * @param errorCallback null for nobody
     * @return whether it was registered
     */
    boolean setErrorCallback(ArmErrorCallback errorCallback);
}
