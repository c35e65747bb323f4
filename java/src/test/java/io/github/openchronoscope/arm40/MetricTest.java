package io.github.openchronoscope.arm40;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.opengroup.arm40.metric.ArmMetric;
import org.opengroup.arm40.metric.ArmMetricCounter32;
import org.opengroup.arm40.metric.ArmMetricCounter64;
import org.opengroup.arm40.metric.ArmMetricCounterFloat32;
import org.opengroup.arm40.metric.ArmMetricDefinition;
import org.opengroup.arm40.metric.ArmMetricFactory;
import org.opengroup.arm40.metric.ArmMetricGauge32;
import org.opengroup.arm40.metric.ArmMetricGauge64;
import org.opengroup.arm40.metric.ArmMetricGaugeFloat32;
import org.opengroup.arm40.metric.ArmMetricGroup;
import org.opengroup.arm40.metric.ArmMetricGroupDefinition;
import org.opengroup.arm40.metric.ArmMetricNumericId32;
import org.opengroup.arm40.metric.ArmMetricNumericId64;
import org.opengroup.arm40.metric.ArmMetricString32;
import org.opengroup.arm40.metric.ArmTranReportWithMetrics;
import org.opengroup.arm40.metric.ArmTransactionWithMetrics;
import org.opengroup.arm40.metric.ArmTransactionWithMetricsDefinition;
import org.opengroup.arm40.transaction.ArmConstants;

/** Metrics of all nine kinds. In the ring their names have the units behind them. */
class MetricTest {
    private static final short GENERAL = ArmMetricDefinition.METRIC_USE_GENERAL;
    private static final Arm ARM = new Arm("Metrics");
    private static final ArmMetricFactory FACTORY = ARM.metrics;

    private final ArmMetricCounter32 counter32 = FACTORY.newArmMetricCounter32(
            FACTORY.newArmMetricCounter32Definition(ARM.definition, "c32", "1", GENERAL, null));
    private final ArmMetricCounter64 counter64 = FACTORY.newArmMetricCounter64(
            FACTORY.newArmMetricCounter64Definition(ARM.definition, "c64", "B",
                    ArmMetricDefinition.METRIC_USE_TRAN_SIZE, null));
    private final ArmMetricCounterFloat32 counterFloat = FACTORY.newArmMetricCounterFloat32(
            FACTORY.newArmMetricCounterFloat32Definition(
                    ARM.definition, "cf", null, GENERAL, null));
    private final ArmMetricGauge32 gauge32 = FACTORY.newArmMetricGauge32(
            FACTORY.newArmMetricGauge32Definition(ARM.definition, "g32", "°C", GENERAL, null));
    private final ArmMetricGauge64 gauge64 = FACTORY.newArmMetricGauge64(
            FACTORY.newArmMetricGauge64Definition(ARM.definition, "g64", null, GENERAL, null));
    private final ArmMetricGaugeFloat32 gaugeFloat = FACTORY.newArmMetricGaugeFloat32(
            FACTORY.newArmMetricGaugeFloat32Definition(
                    ARM.definition, "gf", null, GENERAL, null));
    private final ArmMetricNumericId32 id32 = FACTORY.newArmMetricNumericId32(
            FACTORY.newArmMetricNumericId32Definition(ARM.definition, "n32", null,
                    ArmMetricDefinition.METRIC_USE_TRAN_STATUS, null));
    private final ArmMetricNumericId64 id64 = FACTORY.newArmMetricNumericId64(
            FACTORY.newArmMetricNumericId64Definition(ARM.definition, "n64", null, GENERAL, null));
    private final ArmMetricString32 string = FACTORY.newArmMetricString32(
            FACTORY.newArmMetricString32Definition(ARM.definition, "s", null, GENERAL, null));

    private static ArmTransactionWithMetrics transaction(String name, ArmMetric... metrics) {
        ArmMetricGroup group = group(metrics);
        return FACTORY.newArmTransactionWithMetrics(
                ARM.application, definition(name, group.getDefinition()), group);
    }

    private static ArmTransactionWithMetricsDefinition definition(
            String name, ArmMetricGroupDefinition group) {
        return FACTORY.newArmTransactionWithMetricsDefinition(
                ARM.definition, name, null, group, null);
    }

    private static ArmMetricGroup group(ArmMetric... metrics) {
        ArmMetricDefinition[] definitions = new ArmMetricDefinition[metrics.length];
        for (int i = 0; i < metrics.length; i++) {
            definitions[i] = metrics[i] == null ? null : metrics[i].getDefinition();
        }
        ArmMetricGroupDefinition definition = FACTORY.newArmMetricGroupDefinition(definitions);
        assertEquals(0, definition.getErrorCode());
        ArmMetricGroup group = FACTORY.newArmMetricGroup(definition, metrics);
        assertEquals(0, group.getErrorCode());
        return group;
    }

    @Test
    void allNineKindsArrive() {
        ArmTransactionWithMetrics first = transaction(
                "counters", counter32, counter64, counterFloat, id32, id64, null, string);
        ArmTransactionWithMetrics second =
                transaction("gauges", gauge32, gauge64, gaugeFloat);
        counter32.set(Integer.MAX_VALUE);
        counter64.set(1L << 52);
        counterFloat.set(0.1f);
        id32.set(-404);
        id64.set(-(1L << 50));
        string.set("näher");
        gauge32.set(Integer.MIN_VALUE);
        gauge64.set(-(1L << 53));
        gaugeFloat.set(-273.15f);
        assertEquals(0, first.start());
        assertEquals(0, first.stop(ArmConstants.STATUS_GOOD));
        assertEquals(0, second.start());
        assertEquals(0, second.stop(ArmConstants.STATUS_GOOD));

        JsonObject counters = Rings.only("counters");
        JsonObject numbers = counters.getAsJsonObject("metrics");
        assertEquals(Integer.MAX_VALUE, numbers.get("c32 [1]").getAsDouble());
        assertEquals(1L << 52, numbers.get("c64 [B]").getAsDouble());
        assertEquals(0.1f, numbers.get("cf").getAsDouble());
        assertEquals(-404, numbers.get("n32").getAsDouble());
        assertEquals(-(1L << 50), numbers.get("n64").getAsDouble());
        assertEquals("näher", counters.getAsJsonObject("properties").get("s").getAsString());
        JsonObject gauges = Rings.only("gauges").getAsJsonObject("metrics");
        assertEquals(Integer.MIN_VALUE, gauges.get("g32 [°C]").getAsDouble());
        assertEquals(-(1L << 53), gauges.get("g64").getAsDouble());
        assertEquals(-273.15f, gauges.get("gf").getAsDouble());
    }

    @Test
    void theLastValueOfStartUpdateStopCounts() {
        ArmTransactionWithMetrics transaction = transaction("values", gauge32);
        gauge32.set(1);
        transaction.start();
        gauge32.set(2);
        assertEquals(0, transaction.update());
        gauge32.set(3);
        transaction.stop(ArmConstants.STATUS_GOOD);
        gauge32.set(4);
        JsonObject metrics = Rings.only("values").getAsJsonObject("metrics");
        assertEquals(3, metrics.get("g32 [°C]").getAsInt());
    }

    @Test
    void invalidMetricsAreLeftOut() {
        ArmTransactionWithMetrics transaction = transaction("validity", gauge32, gauge64);
        ArmMetricGroup group = transaction.getMetricGroup();
        assertTrue(group.isMetricValid(0));
        assertFalse(group.isMetricValid(5));
        assertFalse(group.isMetricValid(-1));
        assertEquals(0, group.setMetricValid(0, false));
        assertEquals(ErrorCode.INDEX.code(), group.setMetricValid(5, true));
        transaction.start();
        transaction.stop(ArmConstants.STATUS_GOOD);
        JsonObject metrics = Rings.only("validity").getAsJsonObject("metrics");
        assertNull(metrics.get("g32 [°C]"));
        assertEquals(0, metrics.get("g64").getAsInt());
    }

    @Test
    void whatCannotBeSaidIsLeftOutAndReported() {
        ArmTransactionWithMetrics transaction = transaction("not a number", gaugeFloat, gauge32);
        assertEquals(ErrorCode.METRIC_VALUE.code(), gaugeFloat.set(Float.NaN));
        assertEquals(ErrorCode.METRIC_VALUE.code(), transaction.start());
        assertEquals(ErrorCode.METRIC_VALUE.code(), transaction.stop(ArmConstants.STATUS_GOOD));
        assertEquals(ErrorCode.TOO_LONG.code(), string.set("x".repeat(32)));
        assertEquals("x".repeat(31), string.get());
        JsonObject stored = Rings.only("not a number");
        assertNull(stored.getAsJsonObject("metrics").get("gf"));
        assertEquals("GOOD", Rings.text(stored, "status"));
    }

    @Test
    void slotsUsagesAndGroupsAreChecked() {
        ArmMetricGroupDefinition wrong = FACTORY.newArmMetricGroupDefinition(
                new ArmMetricDefinition[] {string.getDefinition(), gauge32.getDefinition()});
        assertEquals(ErrorCode.METRIC_SLOT.code(), wrong.getErrorCode());
        assertNull(wrong.getMetricDefinition(0));
        assertSame(gauge32.getDefinition(), wrong.getMetricDefinition(1));
        assertEquals(ErrorCode.METRIC_GROUP.code(), FACTORY.newArmMetricGroup(
                wrong, new ArmMetric[] {null, gauge64}).getErrorCode());
        assertEquals(ErrorCode.TOO_MANY.code(), FACTORY.newArmMetricGroupDefinition(
                new ArmMetricDefinition[8]).getErrorCode());
        assertEquals(ErrorCode.USAGE.code(), FACTORY.newArmMetricGauge32Definition(ARM.definition,
                "no status", null, ArmMetricDefinition.METRIC_USE_TRAN_STATUS, null)
                .getErrorCode());
        assertEquals(ErrorCode.METRIC_GROUP.code(), FACTORY.newArmTransactionWithMetrics(
                ARM.application, definition("other group", wrong), group(gauge32)).getErrorCode());
    }

    @Test
    void reportsHaveMetricsToo() {
        ArmMetricGroup group = group(gauge32);
        ArmTranReportWithMetrics report = FACTORY.newArmTranReportWithMetrics(
                ARM.application, definition("reported", group.getDefinition()), group);
        assertSame(group, report.getMetricGroup());
        gauge32.set(77);
        assertEquals(0, report.report(ArmConstants.STATUS_GOOD, 1_000));
        List<JsonObject> stored = Rings.own("reported");
        assertEquals(77, stored.get(0).getAsJsonObject("metrics").get("g32 [°C]").getAsInt());
    }
}
