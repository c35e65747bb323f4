package io.github.openchronoscope.arm40;

import org.opengroup.arm40.transaction.ArmApplication;
import org.opengroup.arm40.transaction.ArmApplicationDefinition;
import org.opengroup.arm40.transaction.ArmCorrelator;
import org.opengroup.arm40.transaction.ArmID;
import org.opengroup.arm40.transaction.ArmIdentityProperties;
import org.opengroup.arm40.transaction.ArmIdentityPropertiesTransaction;
import org.opengroup.arm40.transaction.ArmTransaction;
import org.opengroup.arm40.transaction.ArmTransactionDefinition;
import org.opengroup.arm40.transaction.ArmTransactionFactory;
import org.opengroup.arm40.transaction.ArmUser;

/** Makes transactions and what they need. Safe for use by several threads. */
public final class TransactionFactory extends Factory implements ArmTransactionFactory {
    /** For the class loader, which finds this class by the name in the system property. */
    public TransactionFactory() {}

    @Override
    public ArmApplication newArmApplication(ArmApplicationDefinition definition, String group,
            String instance, String[] contextValues) {
        Problem problem = new Problem();
        return made(new Application(
                listener, definition, group, instance, contextValues, null, problem),
                problem, "newArmApplication");
    }

    @Override
    public ArmApplicationDefinition newArmApplicationDefinition(
            String name, ArmIdentityProperties identityProperties, ArmID id) {
        Problem problem = new Problem();
        return made(new ApplicationDefinition(listener, name, identityProperties, id, problem),
                problem, "newArmApplicationDefinition");
    }

    @Override
    public ArmCorrelator newArmCorrelator(byte[] corrBytes) {
        return newArmCorrelator(corrBytes, 0);
    }

    @Override
    public ArmCorrelator newArmCorrelator(byte[] corrBytes, int offset) {
        Problem problem = new Problem();
        Correlator correlator = Correlator.at(listener, corrBytes, offset);
        if (correlator == null) {
            problem.add(corrBytes == null ? ErrorCode.NULL_ARGUMENT : ErrorCode.CORRELATOR);
            correlator = Correlator.invalid(listener);
        }
        return made(correlator, problem, "newArmCorrelator");
    }

    @Override
    public ArmID newArmID(byte[] idBytes) {
        return newArmID(idBytes, 0);
    }

    @Override
    public ArmID newArmID(byte[] idBytes, int offset) {
        Problem problem = new Problem();
        return made(Id.of(listener, idBytes, offset, problem), problem, "newArmID");
    }

    @Override
    public ArmIdentityProperties newArmIdentityProperties(
            String[] identityNames, String[] identityValues, String[] contextNames) {
        Problem problem = new Problem();
        return made(new IdentityProperties(
                listener, identityNames, identityValues, contextNames, problem),
                problem, "newArmIdentityProperties");
    }

    @Override
    public ArmIdentityPropertiesTransaction newArmIdentityPropertiesTransaction(
            String[] identityNames, String[] identityValues, String[] contextNames,
            String uriValue) {
        Problem problem = new Problem();
        return made(new IdentityPropertiesTransaction(
                listener, identityNames, identityValues, contextNames, uriValue, problem),
                problem, "newArmIdentityPropertiesTransaction");
    }

    @Override
    public ArmTransaction newArmTransaction(
            ArmApplication app, ArmTransactionDefinition definition) {
        Problem problem = new Problem();
        return made(new Transaction(listener, app, definition, problem),
                problem, "newArmTransaction");
    }

    @Override
    public ArmTransactionDefinition newArmTransactionDefinition(ArmApplicationDefinition app,
            String name, ArmIdentityPropertiesTransaction identityProperties, ArmID id) {
        Problem problem = new Problem();
        return made(new TransactionDefinition(
                listener, app, name, identityProperties, null, id, problem),
                problem, "newArmTransactionDefinition");
    }

    @Override
    public ArmUser newArmUser(String name, ArmID id) {
        Problem problem = new Problem();
        return made(new User(listener, name, id, problem), problem, "newArmUser");
    }

    @Override
    String interfaceName() {
        return "ArmTransactionFactory";
    }
}
