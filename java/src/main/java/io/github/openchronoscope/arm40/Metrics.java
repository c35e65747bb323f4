package io.github.openchronoscope.arm40;

import org.opengroup.arm40.metric.ArmMetricCounter32;
import org.opengroup.arm40.metric.ArmMetricCounter64;
import org.opengroup.arm40.metric.ArmMetricCounterFloat32;
import org.opengroup.arm40.metric.ArmMetricGauge32;
import org.opengroup.arm40.metric.ArmMetricGauge64;
import org.opengroup.arm40.metric.ArmMetricGaugeFloat32;
import org.opengroup.arm40.metric.ArmMetricNumericId32;
import org.opengroup.arm40.metric.ArmMetricNumericId64;
import org.opengroup.arm40.metric.ArmMetricString32;

/** The nine kinds of metrics. A value is read and written by any thread, the last one counts. */
final class Metrics {
    private Metrics() {}

    static final class Counter32 extends Metric implements ArmMetricCounter32 {
        private int value;

        Counter32(Listener listener, MetricDefinition definition) {
            super(listener, definition);
        }

        @Override
        public int get() {
            return value;
        }

        @Override
        public int set(int newValue) {
            value = newValue;
            return ok();
        }

        @Override
        void writeValue(Payload payload) {
            payload.intOf(value).intOf(0);
        }
    }

    static final class Counter64 extends Metric implements ArmMetricCounter64 {
        private long value;

        Counter64(Listener listener, MetricDefinition definition) {
            super(listener, definition);
        }

        @Override
        public long get() {
            return value;
        }

        @Override
        public int set(long newValue) {
            value = newValue;
            return ok();
        }

        @Override
        void writeValue(Payload payload) {
            payload.longOf(value);
        }
    }

    static final class CounterFloat32 extends Metric implements ArmMetricCounterFloat32 {
        private float value;

        CounterFloat32(Listener listener, MetricDefinition definition) {
            super(listener, definition);
        }

        @Override
        public float get() {
            return value;
        }

        @Override
        public int set(float newValue) {
            value = newValue;
            return Ratio.isOne(newValue) ? ok() : fail(ErrorCode.METRIC_VALUE, "set");
        }

        @Override
        boolean isRecordable() {
            return Ratio.isOne(value);
        }

        @Override
        void writeValue(Payload payload) {
            payload.longOf(Ratio.of(value));
        }
    }

    static final class Gauge32 extends Metric implements ArmMetricGauge32 {
        private int value;

        Gauge32(Listener listener, MetricDefinition definition) {
            super(listener, definition);
        }

        @Override
        public int get() {
            return value;
        }

        @Override
        public int set(int newValue) {
            value = newValue;
            return ok();
        }

        @Override
        void writeValue(Payload payload) {
            payload.intOf(value).intOf(0);
        }
    }

    static final class Gauge64 extends Metric implements ArmMetricGauge64 {
        private long value;

        Gauge64(Listener listener, MetricDefinition definition) {
            super(listener, definition);
        }

        @Override
        public long get() {
            return value;
        }

        @Override
        public int set(long newValue) {
            value = newValue;
            return ok();
        }

        @Override
        void writeValue(Payload payload) {
            payload.longOf(value);
        }
    }

    static final class GaugeFloat32 extends Metric implements ArmMetricGaugeFloat32 {
        private float value;

        GaugeFloat32(Listener listener, MetricDefinition definition) {
            super(listener, definition);
        }

        @Override
        public float get() {
            return value;
        }

        @Override
        public int set(float newValue) {
            value = newValue;
            return Ratio.isOne(newValue) ? ok() : fail(ErrorCode.METRIC_VALUE, "set");
        }

        @Override
        boolean isRecordable() {
            return Ratio.isOne(value);
        }

        @Override
        void writeValue(Payload payload) {
            payload.longOf(Ratio.of(value));
        }
    }

    static final class NumericId32 extends Metric implements ArmMetricNumericId32 {
        private int value;

        NumericId32(Listener listener, MetricDefinition definition) {
            super(listener, definition);
        }

        @Override
        public int get() {
            return value;
        }

        @Override
        public int set(int newValue) {
            value = newValue;
            return ok();
        }

        @Override
        void writeValue(Payload payload) {
            payload.intOf(value).intOf(0);
        }
    }

    static final class NumericId64 extends Metric implements ArmMetricNumericId64 {
        private long value;

        NumericId64(Listener listener, MetricDefinition definition) {
            super(listener, definition);
        }

        @Override
        public long get() {
            return value;
        }

        @Override
        public int set(long newValue) {
            value = newValue;
            return ok();
        }

        @Override
        void writeValue(Payload payload) {
            payload.longOf(value);
        }
    }

    static final class String32 extends Metric implements ArmMetricString32 {
        private static final int LENGTH_MAX = 31;

        private String value;

        String32(Listener listener, MetricDefinition definition) {
            super(listener, definition);
        }

        @Override
        public String get() {
            return value;
        }

        @Override
        public int set(String newValue) {
            Problem problem = new Problem();
            value = problem.text(newValue, LENGTH_MAX);
            return result(problem.code(), "set");
        }

        @Override
        boolean isRecordable() {
            return value != null;
        }

        @Override
        void writeValue(Payload payload) {
            payload.text(value);
        }
    }
}
