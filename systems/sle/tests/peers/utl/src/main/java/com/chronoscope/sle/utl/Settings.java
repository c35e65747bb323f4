package com.chronoscope.sle.utl;

import eu.dariolucia.ccsds.sle.utl.config.PeerConfiguration;
import eu.dariolucia.ccsds.sle.utl.config.ServiceInstanceConfiguration;
import eu.dariolucia.ccsds.sle.utl.config.UtlConfigurationFile;
import eu.dariolucia.ccsds.sle.utl.config.cltu.CltuServiceInstanceConfiguration;
import eu.dariolucia.ccsds.sle.utl.config.network.PortMapping;
import eu.dariolucia.ccsds.sle.utl.config.network.RemotePeer;
import eu.dariolucia.ccsds.sle.utl.config.raf.RafServiceInstanceConfiguration;
import eu.dariolucia.ccsds.sle.utl.config.rcf.RcfServiceInstanceConfiguration;
import eu.dariolucia.ccsds.sle.utl.config.rocf.RocfServiceInstanceConfiguration;
import eu.dariolucia.ccsds.sle.utl.si.AuthenticationModeEnum;
import eu.dariolucia.ccsds.sle.utl.si.DeliveryModeEnum;
import eu.dariolucia.ccsds.sle.utl.si.GVCID;
import eu.dariolucia.ccsds.sle.utl.si.HashFunctionEnum;
import eu.dariolucia.ccsds.sle.utl.si.InitiatorRoleEnum;
import eu.dariolucia.ccsds.sle.utl.si.cltu.CltuNotificationModeEnum;
import eu.dariolucia.ccsds.sle.utl.si.cltu.CltuPlopInEffectEnum;
import eu.dariolucia.ccsds.sle.utl.si.cltu.CltuProtocolAbortModeEnum;
import eu.dariolucia.ccsds.sle.utl.si.raf.RafRequestedFrameQualityEnum;
import eu.dariolucia.ccsds.sle.utl.si.rocf.RocfControlWordTypeEnum;
import eu.dariolucia.ccsds.sle.utl.si.rocf.RocfUpdateModeEnum;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What the command line says, {@code name=value} each; the defaults are in {@link #DEFAULTS}. */
final class Settings {
    static final Map<String, String> DEFAULTS = Map.ofEntries(
            // Who and where.
            Map.entry("host", "127.0.0.1"),
            Map.entry("port", "0"), // of a provider: 0 takes a free one
            Map.entry("user", "TESTUSER"),
            Map.entry("user-password", "000102030405060708"), // hexadecimal
            Map.entry("provider", "TESTPROV"),
            Map.entry("provider-password", "0a0b0c0d0e0f"), // hexadecimal
            Map.entry("port-id", "TESTPORT"),
            // A configuration file of the library: identities, ports and instances are then in it.
            Map.entry("file", ""),
            Map.entry("instance", ""), // "": of the service, see instance()
            Map.entry("version", "5"), // 1 to 5
            Map.entry("auth", "none"), // none, bind, all
            Map.entry("hash", "sha-256"), // sha-1, sha-256
            // Transport.
            Map.entry("heartbeat", "25"), // seconds
            Map.entry("dead-factor", "5"),
            Map.entry("tcp-buffer", "0"), // octets; 0: the system's
            Map.entry("return-timeout", "60"), // seconds
            // What is done.
            Map.entry("count", "100"), // CLTUs sent, or frames received, that count
            Map.entry("warm", "0"), // the same, before those
            Map.entry("round", "0"), // of those, so many a "round"; 0: none is told
            Map.entry("length", "1544"), // octets of a CLTU or frame
            Map.entry("window", "64"), // CLTUs without their return, at most
            Map.entry("first", "1"), // first CLTU id
            Map.entry("spacecraft", "1"), // of RCF and ROCF
            Map.entry("channel", "0"), // virtual channel of RCF and ROCF
            Map.entry("radiated", "false"), // of each CLTU a report is asked for, or given
            Map.entry("frames", "1"), // of a transfer buffer
            Map.entry("latency", "1"), // seconds
            Map.entry("mode", "complete"), // complete, timely
            Map.entry("report", "false"), // a status report is asked for
            Map.entry("parameter", "false"), // parameters are asked for
            Map.entry("event", "false"), // an event is thrown
            Map.entry("abort", "false"), // PEER-ABORT instead of STOP and UNBIND
            Map.entry("wait", "60")); // seconds for whatever is waited for

    private final Map<String, String> values = new TreeMap<>(DEFAULTS);
    final boolean isUser;
    String service;
    final boolean isRaf;

    Settings(String[] arguments) {
        if (arguments.length < 2) {
            throw new IllegalArgumentException(
                    "usage: user|provider fcltu|raf|rcf|rocf NAME=VALUE...");
        }
        isUser = choice("role", arguments[0], "provider", "user");
        service = arguments[1];
        if (!List.of("fcltu", "raf", "rcf", "rocf").contains(service)) {
            throw new IllegalArgumentException("service: " + service);
        }
        isRaf = service.equals("raf");
        for (int i = 2; i < arguments.length; i++) {
            String[] pair = arguments[i].split("=", 2);
            if (pair.length != 2 || values.replace(pair[0], pair[1]) == null) {
                throw new IllegalArgumentException("no such setting: " + arguments[i]);
            }
        }
    }

    private static boolean choice(String name, String value, String no, String yes) {
        if (!value.equals(yes) && !value.equals(no)) {
            throw new IllegalArgumentException(name + ": " + value + " is not " + yes + " or " + no);
        }
        return value.equals(yes);
    }

    String text(String name) {
        return values.get(name);
    }

    int number(String name) {
        return Integer.parseInt(text(name));
    }

    boolean isSet(String name) {
        return choice(name, text(name), "false", "true");
    }

    void set(String name, String value) {
        values.put(name, value);
    }

    String instance() {
        if (!text("instance").isEmpty()) {
            return text("instance");
        }
        return service.equals("fcltu")
                ? "sagr=1.spack=VST-PASS0001.fsl-fg=1.cltu=cltu1"
                : "sagr=1.spack=VST-PASS0001.rsl-fg=1." + service + "="
                        + (isComplete() ? "onlc1" : "onlt1");
    }

    private boolean isComplete() {
        return choice("mode", text("mode"), "timely", "complete");
    }

    /** The configuration file, if there is one: of its instances the one of the service. */
    private UtlConfigurationFile file() {
        try (InputStream in = Files.newInputStream(Path.of(text("file")))) {
            return UtlConfigurationFile.load(in);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private <T extends ServiceInstanceConfiguration> T ofFile(Class<T> type) {
        return file().getServiceInstances().stream().filter(type::isInstance).map(type::cast)
                .findFirst().orElseThrow();
    }

    /** Writes what the settings say as a configuration file of the library, with all instances. */
    void save(Path to) throws IOException {
        UtlConfigurationFile file = new UtlConfigurationFile();
        file.setPeerConfiguration(peers());
        List<ServiceInstanceConfiguration> instances = new ArrayList<>();
        for (String each : List.of("fcltu", "raf", "rcf", "rocf")) {
            service = each;
            instances.add(switch (each) {
                case "fcltu" -> fcltu();
                case "raf" -> raf();
                case "rcf" -> rcf();
                default -> rocf();
            });
        }
        file.setServiceInstances(instances);
        try (OutputStream out = Files.newOutputStream(to)) {
            UtlConfigurationFile.save(file, out);
        }
    }

    PeerConfiguration peers() {
        if (!text("file").isEmpty()) {
            return file().getPeerConfiguration();
        }
        AuthenticationModeEnum mode = AuthenticationModeEnum.valueOf(text("auth").toUpperCase());
        HashFunctionEnum hash =
                HashFunctionEnum.valueOf(text("hash").toUpperCase().replace('-', '_'));
        String local = isUser ? "user" : "provider";
        String remote = isUser ? "provider" : "user";
        int buffer = number("tcp-buffer");
        PeerConfiguration peers = new PeerConfiguration();
        peers.setLocalId(text(local));
        peers.setLocalPassword(text(local + "-password"));
        peers.setAuthenticationDelay(180);
        peers.setRemotePeers(List.of(
                new RemotePeer(text(remote), mode, hash, text(remote + "-password"))));
        peers.setPortMappings(List.of(new PortMapping(text("port-id"), number("dead-factor"),
                number("heartbeat"), text("host") + ":" + text("port"), buffer, buffer)));
        return peers;
    }

    CltuServiceInstanceConfiguration fcltu() {
        if (!text("file").isEmpty()) {
            return ofFile(CltuServiceInstanceConfiguration.class);
        }
        CltuServiceInstanceConfiguration fcltu = new CltuServiceInstanceConfiguration();
        common(fcltu);
        fcltu.setMinReportingCycle(1);
        fcltu.setMaxCltuLength(65536);
        fcltu.setMinCltuDelay(0);
        fcltu.setProtocolAbortMode(CltuProtocolAbortModeEnum.values()[0]);
        fcltu.setAcquisitionSequenceLength(8);
        fcltu.setModulationFrequency(32000L);
        fcltu.setModulationIndex(1000);
        fcltu.setNotificationMode(CltuNotificationModeEnum.values()[0]);
        fcltu.setPlop1idleSequenceLength(8);
        fcltu.setPlopInEffect(CltuPlopInEffectEnum.values()[0]);
        fcltu.setSubcarrierToBitrateRatio(4);
        return fcltu;
    }

    RafServiceInstanceConfiguration raf() {
        if (!text("file").isEmpty()) {
            return ofFile(RafServiceInstanceConfiguration.class);
        }
        RafServiceInstanceConfiguration raf = new RafServiceInstanceConfiguration();
        common(raf);
        raf.setMinReportingCycle(1);
        raf.setLatencyLimit(number("latency"));
        raf.setTransferBufferSize(number("frames"));
        raf.setDeliveryMode(delivery());
        raf.setPermittedFrameQuality(List.of(RafRequestedFrameQualityEnum.values()));
        raf.setRequestedFrameQuality(RafRequestedFrameQualityEnum.ALL_FRAMES);
        return raf;
    }

    RcfServiceInstanceConfiguration rcf() {
        if (!text("file").isEmpty()) {
            return ofFile(RcfServiceInstanceConfiguration.class);
        }
        RcfServiceInstanceConfiguration rcf = new RcfServiceInstanceConfiguration();
        common(rcf);
        rcf.setMinReportingCycle(1);
        rcf.setLatencyLimit(number("latency"));
        rcf.setTransferBufferSize(number("frames"));
        rcf.setDeliveryMode(delivery());
        rcf.setPermittedGvcid(List.of(channel(), master()));
        rcf.setRequestedGvcid(channel());
        return rcf;
    }

    RocfServiceInstanceConfiguration rocf() {
        if (!text("file").isEmpty()) {
            return ofFile(RocfServiceInstanceConfiguration.class);
        }
        RocfServiceInstanceConfiguration rocf = new RocfServiceInstanceConfiguration();
        common(rocf);
        rocf.setMinReportingCycle(1);
        rocf.setLatencyLimit(number("latency"));
        rocf.setTransferBufferSize(number("frames"));
        rocf.setDeliveryMode(delivery());
        rocf.setPermittedGvcid(List.of(channel(), master()));
        rocf.setPermittedTcVcids(List.of(0, 1));
        rocf.setPermittedControlWordTypes(List.of(RocfControlWordTypeEnum.values()));
        rocf.setPermittedUpdateModes(List.of(RocfUpdateModeEnum.values()));
        rocf.setRequestedGvcid(channel());
        rocf.setRequestedTcVcid(0);
        rocf.setRequestedControlWordType(RocfControlWordTypeEnum.CLCW);
        rocf.setRequestedUpdateMode(RocfUpdateModeEnum.CONTINUOUS);
        return rocf;
    }

    /** The virtual channel of RCF and ROCF. */
    GVCID channel() {
        return new GVCID(number("spacecraft"), 0, number("channel"));
    }

    /** Its master channel. */
    GVCID master() {
        return new GVCID(number("spacecraft"), 0, null);
    }

    private DeliveryModeEnum delivery() {
        return isComplete() ? DeliveryModeEnum.COMPLETE_ONLINE : DeliveryModeEnum.TIMELY_ONLINE;
    }

    private void common(ServiceInstanceConfiguration configuration) {
        configuration.setServiceInstanceIdentifier(instance());
        configuration.setInitiator(InitiatorRoleEnum.USER);
        configuration.setInitiatorIdentifier(text("user"));
        configuration.setResponderIdentifier(text("provider"));
        configuration.setResponderPortIdentifier(text("port-id"));
        configuration.setReturnTimeoutPeriod(number("return-timeout"));
        configuration.setServiceVersionNumber(number("version"));
        configuration.setReportingCycle(5);
    }
}
