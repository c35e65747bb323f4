package io.github.openchronoscope.arm40;

import org.opengroup.arm40.metric.ArmMetricFactory;
import org.opengroup.arm40.tranreport.ArmTranReportFactory;
import org.opengroup.arm40.transaction.ArmApplication;
import org.opengroup.arm40.transaction.ArmApplicationDefinition;
import org.opengroup.arm40.transaction.ArmTransaction;
import org.opengroup.arm40.transaction.ArmTransactionDefinition;
import org.opengroup.arm40.transaction.ArmTransactionFactory;

/** The factories, found as an application finds them, and one application instance. */
final class Arm {
    final ArmTransactionFactory transactions = load(
            ArmTransactionFactory.class, ArmTransactionFactory.propertyKey, "TransactionFactory");
    final ArmMetricFactory metrics =
            load(ArmMetricFactory.class, ArmMetricFactory.propertyKey, "MetricFactory");
    final ArmTranReportFactory reports =
            load(ArmTranReportFactory.class, ArmTranReportFactory.propertyKey, "TranReportFactory");
    final ArmApplicationDefinition definition;
    final ArmApplication application;

    Arm(String name) {
        definition = transactions.newArmApplicationDefinition(name, null, null);
        application = transactions.newArmApplication(definition, null, null, null);
    }

    ArmTransactionDefinition define(String name) {
        return transactions.newArmTransactionDefinition(definition, name, null, null);
    }

    ArmTransaction newTransaction(String name) {
        return transactions.newArmTransaction(application, define(name));
    }

    private static <T> T load(Class<T> factory, String key, String name) {
        System.setProperty(key, "io.github.openchronoscope.arm40." + name);
        try {
            return factory.cast(Class.forName(System.getProperty(key))
                    .getDeclaredConstructor().newInstance());
        } catch (ReflectiveOperationException error) {
            throw new AssertionError(error);
        }
    }
}
