package io.github.openchronoscope.arm40;

import org.opengroup.arm40.tranreport.ArmApplicationRemote;
import org.opengroup.arm40.tranreport.ArmSystemAddress;
import org.opengroup.arm40.tranreport.ArmTranReport;
import org.opengroup.arm40.tranreport.ArmTranReportFactory;
import org.opengroup.arm40.transaction.ArmApplication;
import org.opengroup.arm40.transaction.ArmApplicationDefinition;
import org.opengroup.arm40.transaction.ArmID;
import org.opengroup.arm40.transaction.ArmTransactionDefinition;

/** Makes reports and what they need. Safe for use by several threads. */
public final class TranReportFactory extends Factory implements ArmTranReportFactory {
    /** For the class loader, which finds this class by the name in the system property. */
    public TranReportFactory() {}

    @Override
    public ArmApplicationRemote newArmApplicationRemote(ArmApplicationDefinition definition,
            String group, String instance, String[] contextValues,
            ArmSystemAddress systemAddress) {
        Problem problem = new Problem();
        SystemAddress address = SystemAddress.given(systemAddress, problem);
        return made(new Application.Remote(
                listener, definition, group, instance, contextValues, address, problem),
                problem, "newArmApplicationRemote");
    }

    @Override
    public ArmSystemAddress newArmSystemAddress(short format, byte[] addressBytes, ArmID id) {
        int length = addressBytes == null ? 0 : addressBytes.length;
        return newArmSystemAddress(format, addressBytes, 0, length, id);
    }

    @Override
    public ArmSystemAddress newArmSystemAddress(
            short format, byte[] addressBytes, int offset, ArmID id) {
        Problem problem = new Problem();
        return made(
                SystemAddress.of(listener, format, addressBytes, offset, -1, id, problem),
                problem, "newArmSystemAddress");
    }

    @Override
    public ArmSystemAddress newArmSystemAddress(
            short format, byte[] addressBytes, int offset, int length, ArmID id) {
        Problem problem = new Problem();
        return made(SystemAddress.of(
                listener, format, addressBytes, offset, Math.max(length, 0), id, problem),
                problem, "newArmSystemAddress");
    }

    @Override
    public ArmTranReport newArmTranReport(
            ArmApplication app, ArmTransactionDefinition definition) {
        Problem problem = new Problem();
        return made(new TranReport(listener, app, definition, problem),
                problem, "newArmTranReport");
    }

    @Override
    String interfaceName() {
        return "ArmTranReportFactory";
    }
}
