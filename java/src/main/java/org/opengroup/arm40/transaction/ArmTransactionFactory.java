package org.opengroup.arm40.transaction;

/**
 * Makes the objects of this package. A method given invalid arguments returns an object all the
 * same, whose methods can be called and whose error code, like the factory's, says what was wrong.
 */
public interface ArmTransactionFactory extends ArmInterface {
    /**
     * Name of the system property that holds the name of the implementing class, which has a
     * constructor without arguments.
     */
    String propertyKey = "Arm40.ArmTransactionFactory";

    /**
     * Begins an application instance.
     *
     * @param definition what it is an instance of
     * @param group the group that it belongs to; null for none
     * @param instance which instance it is; null for none
     * @param contextValues values for the context names of the definition; null for none
     * @return a new instance
     */
    ArmApplication newArmApplication(
            ArmApplicationDefinition definition, String group, String instance,
            String[] contextValues);

    /**
     * Registers an application.
     *
     * @param name in [1, 127] characters
     * @param identityProperties null for none
     * @param id null for none
     * @return a new definition
     */
    ArmApplicationDefinition newArmApplicationDefinition(
            String name, ArmIdentityProperties identityProperties, ArmID id);

    /**
     * Takes a received correlator.
     *
     * @param corrBytes begins with a correlator
     * @return a new correlator
     */
    ArmCorrelator newArmCorrelator(byte[] corrBytes);

    /**
     * Takes a received correlator.
     *
     * @param corrBytes contains a correlator
     * @param offset where it begins
     * @return a new correlator
     */
    ArmCorrelator newArmCorrelator(byte[] corrBytes, int offset);

    /**
     * Makes an id.
     *
     * @param idBytes begins with 16 bytes, not all of them 0 and not all 0xff
     * @return a new id
     */
    ArmID newArmID(byte[] idBytes);

    /**
     * Makes an id.
     *
     * @param idBytes contains 16 bytes, not all of them 0 and not all 0xff
     * @param offset where they begin
     * @return a new id
     */
    ArmID newArmID(byte[] idBytes, int offset);

    /**
     * Makes the properties of an application.
     *
     * @param identityNames at most 20; null for none
     * @param identityValues as many; null for none
     * @param contextNames at most 20; null for none
     * @return new properties
     */
    ArmIdentityProperties newArmIdentityProperties(
            String[] identityNames, String[] identityValues, String[] contextNames);

    /**
     * Makes the properties of a transaction class.
     *
     * @param identityNames at most 20; null for none
     * @param identityValues as many; null for none
     * @param contextNames at most 20; null for none
     * @param uriValue at most 4095 characters; null for none
     * @return new properties
     */
    ArmIdentityPropertiesTransaction newArmIdentityPropertiesTransaction(
            String[] identityNames, String[] identityValues, String[] contextNames,
            String uriValue);

    /**
     * Makes a transaction, which is not started yet.
     *
     * @param app the application instance
     * @param definition the transaction class
     * @return a new transaction
     */
    ArmTransaction newArmTransaction(ArmApplication app, ArmTransactionDefinition definition);

    /**
     * Registers a transaction class.
     *
     * @param app the application that it belongs to
     * @param name in [1, 127] characters
     * @param identityProperties null for none
     * @param id null for none
     * @return a new definition
     */
    ArmTransactionDefinition newArmTransactionDefinition(
            ArmApplicationDefinition app, String name,
            ArmIdentityPropertiesTransaction identityProperties, ArmID id);

    /**
     * Makes a user.
     *
     * @param name in [1, 127] characters
     * @param id null for none
     * @return a new user
     */
    ArmUser newArmUser(String name, ArmID id);

    /**
     * Registers who hears about errors of this factory and of the objects that it made or makes.
     *
     * @param errorCallback null for nobody
     * @return whether it was registered
     */
    boolean setErrorCallback(ArmErrorCallback errorCallback);
}
