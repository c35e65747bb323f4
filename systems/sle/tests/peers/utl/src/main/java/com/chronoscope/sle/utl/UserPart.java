package com.chronoscope.sle.utl;

import eu.dariolucia.ccsds.sle.utl.si.GVCID;
import eu.dariolucia.ccsds.sle.utl.si.ServiceInstance;
import eu.dariolucia.ccsds.sle.utl.si.UnbindReasonEnum;
import eu.dariolucia.ccsds.sle.utl.si.cltu.CltuParameterEnum;
import eu.dariolucia.ccsds.sle.utl.si.cltu.CltuServiceInstance;
import eu.dariolucia.ccsds.sle.utl.si.raf.RafParameterEnum;
import eu.dariolucia.ccsds.sle.utl.si.raf.RafRequestedFrameQualityEnum;
import eu.dariolucia.ccsds.sle.utl.si.raf.RafServiceInstance;
import eu.dariolucia.ccsds.sle.utl.si.rcf.RcfParameterEnum;
import eu.dariolucia.ccsds.sle.utl.si.rcf.RcfServiceInstance;
import eu.dariolucia.ccsds.sle.utl.si.rocf.RocfControlWordTypeEnum;
import eu.dariolucia.ccsds.sle.utl.si.rocf.RocfParameterEnum;
import eu.dariolucia.ccsds.sle.utl.si.rocf.RocfServiceInstance;
import eu.dariolucia.ccsds.sle.utl.si.rocf.RocfUpdateModeEnum;
import java.util.HexFormat;

/** The library as user. */
final class UserPart implements Session.Part {
    private final Settings settings;
    private final ServiceInstance instance;

    UserPart(Settings settings, Session session) {
        this.settings = settings;
        instance = switch (settings.service) {
            case "fcltu" -> new CltuServiceInstance(settings.peers(), settings.fcltu());
            case "raf" -> new RafServiceInstance(settings.peers(), settings.raf());
            case "rcf" -> new RcfServiceInstance(settings.peers(), settings.rcf());
            default -> new RocfServiceInstance(settings.peers(), settings.rocf());
        };
        instance.configure();
        instance.register(session);
    }

    @Override
    public ServiceInstance instance() {
        return instance;
    }

    @Override
    public void order(String[] words) {
        switch (words[0]) {
            case "bind" -> instance.bind(settings.number("version"));
            case "unbind" -> instance.unbind(UnbindReasonEnum.END);
            case "start" -> start(words.length > 1 && words[1].equals("master"));
            case "stop" -> stop();
            case "parameter" -> parameter(words[1]);
            case "report" -> report(words.length > 1 ? Integer.valueOf(words[1]) : null);
            case "cltu" -> ((CltuServiceInstance) instance).transferData(Long.parseLong(words[1]),
                    null, null, 0, words[2].equals("notify"), HexFormat.of().parseHex(words[3]));
            case "event" -> ((CltuServiceInstance) instance).throwEvent(Long.parseLong(words[1]),
                    Integer.parseInt(words[2]), HexFormat.of().parseHex(words[3]));
            default -> throw new IllegalArgumentException("no order of a user");
        }
    }

    private void start(boolean isMaster) {
        GVCID channel = isMaster ? settings.master() : settings.channel();
        if (instance instanceof CltuServiceInstance fcltu) {
            fcltu.start(settings.number("first"));
        } else if (instance instanceof RafServiceInstance raf) {
            raf.start(null, null, RafRequestedFrameQualityEnum.ALL_FRAMES);
        } else if (instance instanceof RcfServiceInstance rcf) {
            rcf.start(null, null, channel);
        } else if (instance instanceof RocfServiceInstance rocf) {
            rocf.start(null, null, channel, 0, RocfControlWordTypeEnum.CLCW,
                    RocfUpdateModeEnum.CONTINUOUS);
        }
    }

    private void stop() {
        if (instance instanceof CltuServiceInstance fcltu) {
            fcltu.stop();
        } else if (instance instanceof RafServiceInstance raf) {
            raf.stop();
        } else if (instance instanceof RcfServiceInstance rcf) {
            rcf.stop();
        } else if (instance instanceof RocfServiceInstance rocf) {
            rocf.stop();
        }
    }

    private void parameter(String name) {
        if (instance instanceof CltuServiceInstance fcltu) {
            fcltu.getParameter(CltuParameterEnum.valueOf(name));
        } else if (instance instanceof RafServiceInstance raf) {
            raf.getParameter(RafParameterEnum.valueOf(name));
        } else if (instance instanceof RcfServiceInstance rcf) {
            rcf.getParameter(RcfParameterEnum.valueOf(name));
        } else if (instance instanceof RocfServiceInstance rocf) {
            rocf.getParameter(RocfParameterEnum.valueOf(name));
        }
    }

    /** @param seconds between reports; null: one, now; 0: no more */
    private void report(Integer seconds) {
        boolean isStop = seconds != null && seconds == 0;
        Integer cycle = isStop ? null : seconds;
        if (instance instanceof CltuServiceInstance fcltu) {
            fcltu.scheduleStatusReport(isStop, cycle);
        } else if (instance instanceof RafServiceInstance raf) {
            raf.scheduleStatusReport(isStop, cycle);
        } else if (instance instanceof RcfServiceInstance rcf) {
            rcf.scheduleStatusReport(isStop, cycle);
        } else if (instance instanceof RocfServiceInstance rocf) {
            rocf.scheduleStatusReport(isStop, cycle);
        }
    }
}
