// Logs in with js-aprs-is, sends one packet, prints what comes. Arguments: host port call passcode
// filter.
const { ISSocket } = require("js-aprs-is");

const [host, port, call, passcode, filter] = process.argv.slice(2);
const socket = new ISSocket("js-aprs-is 2.0.1", host, Number(port), call, Number(passcode), true, "1", filter);
socket.on("packet", (line) => {
  if (line.startsWith("# logresp")) {
    socket.send(`${call}>APRS,TCPIP*:>hello`);
  } else if (!line.startsWith("#") && !line.startsWith("user ") && !line.startsWith(`${call}>`)) {
    console.log(`${line.split(">")[0]} ${line}`);
  }
});
socket.connect(() => socket.sendLogin());
