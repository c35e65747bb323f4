package io.github.openchronoscope.arm40;

import static io.github.openchronoscope.arm40.Rings.text;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.opengroup.arm40.tranreport.ArmApplicationRemote;
import org.opengroup.arm40.tranreport.ArmSystemAddress;
import org.opengroup.arm40.tranreport.ArmTranReport;
import org.opengroup.arm40.transaction.ArmConstants;
import org.opengroup.arm40.transaction.ArmCorrelator;
import org.opengroup.arm40.transaction.ArmID;
import org.opengroup.arm40.transaction.ArmTransaction;

/** Transactions reported when they are done. */
class TranReportTest {
    private static final long STOPPED_MS = 1_700_000_000_123L;
    private static final Arm ARM = new Arm("Reports");

    private static ArmTranReport newReport(String name) {
        return ARM.reports.newArmTranReport(ARM.application, ARM.define(name));
    }

    @Test
    void responseAndStopTimeArrive() {
        ArmTranReport report = newReport("reported alone");
        assertEquals(ArmConstants.STATUS_INVALID, report.getStatus());
        assertEquals(0, report.report(
                ArmConstants.STATUS_FAILED, 1_500_000_000L, STOPPED_MS, "timed elsewhere"));
        assertEquals(ArmConstants.STATUS_FAILED, report.getStatus());
        assertEquals(1_500_000_000L, report.getResponseTime());
        assertNull(report.getCorrelator());
        JsonObject stored = Rings.only("reported alone");
        assertEquals(1_500_000_000L, stored.get("elapsed_ns").getAsLong());
        assertEquals(
                STOPPED_MS * 1_000_000 - 1_500_000_000L, stored.get("start_ns").getAsLong());
        assertEquals("FAILED", text(stored, "status"));
        assertTrue(stored.getAsJsonObject("properties").toString().contains("timed elsewhere"));
    }

    /** The correlator is sent before the transaction is reported; its child is measured. */
    @Test
    void correlatorBeforeTheReport() {
        ArmTransaction parent = ARM.newTransaction("parent of a report");
        ArmTranReport report = newReport("reported later");
        ArmTransaction child = ARM.newTransaction("child of a report");
        parent.start();
        assertEquals(0, report.setParentCorrelator(parent.getCorrelator()));
        ArmCorrelator sent = report.generateCorrelator();
        assertEquals(0, report.getErrorCode());
        child.start(sent);
        child.stop(ArmConstants.STATUS_GOOD);
        assertEquals(0, report.report(ArmConstants.STATUS_GOOD, 5_000));
        assertSame(sent, report.getCorrelator());
        parent.stop(ArmConstants.STATUS_GOOD);
        JsonObject stored = Rings.only("reported later");
        assertEquals(text(Rings.only("parent of a report"), "id"), text(stored, "parent"));
        assertEquals(text(stored, "id"), text(Rings.only("child of a report"), "parent"));
        assertEquals(text(stored, "chain"), text(Rings.only("child of a report"), "chain"));
    }

    /** A correlator is of one transaction: the second report is another one. */
    @Test
    void aCorrelatorCountsOnce() {
        ArmTranReport report = newReport("reported twice");
        report.generateCorrelator();
        report.report(ArmConstants.STATUS_GOOD, 1);
        report.report(ArmConstants.STATUS_GOOD, 2);
        assertNull(report.getCorrelator());
        List<JsonObject> both = Rings.own("reported twice");
        assertEquals(2, both.size());
        assertNotEquals(text(both.get(0), "id"), text(both.get(1), "id"));
    }

    @Test
    void badArguments() {
        ArmTranReport report = newReport("reported badly");
        assertEquals(ErrorCode.RESPONSE_TIME.code(), report.report(ArmConstants.STATUS_GOOD, -1));
        assertEquals(ErrorCode.STATUS.code(), report.report(9, 1));
        assertEquals("UNKNOWN", text(Rings.only("reported badly"), "status"));
    }

    @Test
    void remoteApplicationsHaveAddresses() {
        byte[] frame = {9, 9, 10, 0, 0, 1, 0x1f, (byte) 0x90, 9};
        ArmID id = ARM.transactions.newArmID("0123456789abcdef".getBytes());
        ArmSystemAddress address = ARM.reports.newArmSystemAddress(
                ArmSystemAddress.FORMAT_IPV4PORT, frame, 2, id);
        assertEquals(0, address.getErrorCode());
        assertArrayEquals(new byte[] {10, 0, 0, 1, 0x1f, (byte) 0x90}, address.getAddress());
        assertSame(id, address.getID());
        ArmApplicationRemote remote = ARM.reports.newArmApplicationRemote(
                ARM.definition, "group", "instance", null, address);
        assertEquals(0, remote.getErrorCode());
        assertSame(address, remote.getSystemAddress());
        ArmTranReport report = ARM.reports.newArmTranReport(remote, ARM.define("remote"));
        assertEquals(0, report.report(ArmConstants.STATUS_GOOD, 1_000));
        Rings.only("remote");
        assertEquals(0, remote.end());
        for (short format : new short[] {ArmSystemAddress.FORMAT_IPV4, 0, 9}) {
            assertEquals(ErrorCode.ADDRESS.code(),
                    ARM.reports.newArmSystemAddress(format, frame, null).getErrorCode());
        }
    }
}
