// The worker of position-ways.mjs: draws the same targets in each way, and says how long that takes.
import { Pixels, pixelOf, spriteOf } from '../../systems/radar/page/src/draw/pixels.ts';

const [WIDTH, HEIGHT, COUNT, FRAMES, MARGIN] = [1280, 740, 3000, 30, 192];
const FONT = '11px "DejaVu Sans Mono", monospace';
const COLOURS = ['#bae2c8', '#d6be78', '#9cc4e4', '#9aa4ad', '#ff7a6e'];
const [LABEL_WIDTH, LABEL_HEIGHT, LINE, SYMBOL] = [96, 39, 13, 11];

// The same targets each time (mulberry32).
let seed = 7;
function random() {
  seed = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}
const within = (size) => Math.floor(random() * size);
const targets = Array.from({ length: COUNT }, (_, index) => ({
  x: within(WIDTH), y: within(HEIGHT), labelX: 9 + within(20), labelY: within(40) - 20, colour: index % COLOURS.length,
  words: [`DLH${100 + (index % 900)}`, `${100 + within(300)} 360 +12`, '45 A320 EDDF'],
}));

function canvas(width, height, options = {}) {
  const made = new OffscreenCanvas(width, height).getContext('2d', options);
  made.textBaseline = 'top';
  return made;
}

/** The map: larger than the screen. */
const sheet = canvas(WIDTH + 2 * MARGIN, HEIGHT + 2 * MARGIN, { alpha: false });
sheet.fillStyle = '#0d1218';
sheet.fillRect(0, 0, sheet.canvas.width, sheet.canvas.height);

/** Pictures of all labels, and of a symbol in each colour, on one sheet. */
const columns = Math.floor(2048 / LABEL_WIDTH);
const atlas = canvas(2048, (Math.ceil(COUNT / columns) + 1) * LABEL_HEIGHT);
atlas.font = FONT;
targets.forEach((target, index) => {
  [target.atX, target.atY] = [(index % columns) * LABEL_WIDTH, (1 + Math.floor(index / columns)) * LABEL_HEIGHT];
  atlas.fillStyle = COLOURS[target.colour];
  target.words.forEach((words, line) => atlas.fillText(words, target.atX, target.atY + LINE * line));
});
COLOURS.forEach((colour, index) => {
  atlas.strokeStyle = colour;
  atlas.strokeRect(index * SYMBOL + 2, 2, 7, 7);
});

function measure(way, draw, read) {
  const times = Array.from({ length: FRAMES }, (_, frame) => {
    const begin = performance.now();
    draw(frame % 7);
    read();
    return performance.now() - begin;
  }).sort((a, b) => a - b);
  return { way, least: times[0], middle: times[FRAMES >> 1] };
}

/** Lines and dots, for the ways that have paths. */
function strokes(to) {
  COLOURS.forEach((colour, index) => {
    const those = targets.filter((target) => target.colour === index);
    to.fillStyle = colour;
    to.beginPath();
    for (const { x, y } of those) for (let dot = 1; dot <= 6; dot++) to.rect(x - 6 * dot, y + 3 * dot, 2, 2);
    to.fill();
    to.strokeStyle = colour;
    to.beginPath();
    for (const { x, y, labelX, labelY } of those) {
      to.moveTo(x, y);
      to.lineTo(x + labelX, y + labelY);
      to.moveTo(x, y);
      to.lineTo(x + 20, y - 10);
    }
    to.stroke();
  });
}

function byCanvas() {
  const to = canvas(WIDTH, HEIGHT, { alpha: false });
  const read = () => to.getImageData(0, 0, 1, 1);
  const map = (by) => to.drawImage(sheet.canvas, MARGIN + by, MARGIN, WIDTH, HEIGHT, 0, 0, WIDTH, HEIGHT);
  const words = (by) => {
    map(by);
    strokes(to);
    to.font = FONT;
    for (const { x, y, labelX, labelY, colour, words } of targets) {
      to.strokeStyle = COLOURS[colour];
      to.strokeRect(x - 3.5, y - 3.5, 7, 7);
      to.fillStyle = COLOURS[colour];
      words.forEach((line, index) => to.fillText(line, x + labelX, y + labelY + LINE * index));
    }
  };
  const pictures = (bitmap) => (by) => {
    map(by);
    strokes(to);
    for (const { x, y, labelX, labelY, colour, atX, atY } of targets) {
      to.drawImage(bitmap, colour * SYMBOL, 0, SYMBOL, SYMBOL, x - 5, y - 5, SYMBOL, SYMBOL);
      to.drawImage(bitmap, atX, atY, LABEL_WIDTH, LABEL_HEIGHT, x + labelX, y + labelY, LABEL_WIDTH, LABEL_HEIGHT);
    }
  };
  return { read, words, pictures };
}

/** Without the lines and dots: they would come on top. */
function byWebGl() {
  const gl = new OffscreenCanvas(WIDTH, HEIGHT).getContext('webgl2', { alpha: false, antialias: false });
  if (gl === null) return undefined;
  const program = gl.createProgram();
  const shader = (kind, source) => {
    const made = gl.createShader(kind);
    gl.shaderSource(made, `#version 300 es\nprecision highp float;\n${source}`);
    gl.compileShader(made);
    gl.attachShader(program, made);
  };
  shader(gl.VERTEX_SHADER, `in vec2 corner; in vec4 to; in vec4 from; out vec2 at; uniform vec2 size;
    void main() { vec2 p = to.xy + corner * to.zw; at = (from.xy + corner * from.zw) / size;
      gl_Position = vec4(p.x / ${WIDTH}.0 * 2.0 - 1.0, 1.0 - p.y / ${HEIGHT}.0 * 2.0, 0, 1); }`);
  shader(gl.FRAGMENT_SHADER, 'in vec2 at; uniform sampler2D image; out vec4 colour; void main() { colour = texture(image, at); }');
  ['corner', 'to', 'from'].forEach((name, index) => gl.bindAttribLocation(program, index, name));
  gl.linkProgram(program);
  gl.useProgram(program);
  const texture = (image) => {
    gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
    gl.pixelStorei(gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, true);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, image);
    for (const filter of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, filter, gl.NEAREST);
    for (const wrap of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, wrap, gl.CLAMP_TO_EDGE);
    return gl.getParameter(gl.TEXTURE_BINDING_2D);
  };
  const [ground, labels] = [texture(sheet.canvas), texture(atlas.canvas)];
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, Float32Array.of(0, 0, 1, 0, 0, 1, 1, 1), gl.STATIC_DRAW);
  gl.enableVertexAttribArray(0);
  gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  for (const index of [1, 2]) {
    gl.enableVertexAttribArray(index);
    gl.vertexAttribPointer(index, 4, gl.FLOAT, false, 32, 16 * (index - 1));
    gl.vertexAttribDivisor(index, 1);
  }
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  const size = gl.getUniformLocation(program, 'size');
  const instances = (image, { width, height }, numbers) => {
    gl.bindTexture(gl.TEXTURE_2D, image);
    gl.uniform2f(size, width, height);
    gl.bufferData(gl.ARRAY_BUFFER, Float32Array.from(numbers), gl.STREAM_DRAW);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, numbers.length / 8);
  };
  const draw = (by) => {
    gl.disable(gl.BLEND);
    instances(ground, sheet.canvas, [0, 0, WIDTH, HEIGHT, MARGIN + by, MARGIN, WIDTH, HEIGHT]);
    gl.enable(gl.BLEND);
    instances(labels, atlas.canvas, targets.flatMap(({ x, y, labelX, labelY, colour, atX, atY }) => [
      x - 5, y - 5, SYMBOL, SYMBOL, colour * SYMBOL, 0, SYMBOL, SYMBOL,
      x + labelX, y + labelY, LABEL_WIDTH, LABEL_HEIGHT, atX, atY, LABEL_WIDTH, LABEL_HEIGHT,
    ]));
  };
  const read = () => gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
  const names = gl.getExtension('WEBGL_debug_renderer_info');
  return { draw, read, renderer: names === null ? 'a nameless renderer' : gl.getParameter(names.UNMASKED_RENDERER_WEBGL) };
}

function byPixels() {
  const octets = new Uint8ClampedArray(4 * WIDTH * HEIGHT);
  const [pixels, image] = [new Pixels(WIDTH, HEIGHT, octets.buffer), new ImageData(octets, WIDTH, HEIGHT)];
  const ground = new Pixels(sheet.canvas.width, sheet.canvas.height, sheet.getImageData(0, 0, sheet.canvas.width, sheet.canvas.height).data.buffer);
  const inks = COLOURS.map(pixelOf);
  const glyphs = new Map();
  const shape = (width, height, draw) => {
    const to = canvas(width, height, { willReadFrequently: true });
    [to.font, to.fillStyle, to.strokeStyle] = [FONT, '#ffffff', '#ffffff'];
    draw(to);
    return spriteOf(to.getImageData(0, 0, width, height).data.filter((_, at) => at % 4 === 3), width, 0, 0);
  };
  const glyph = (letter) => {
    const made = shape(12, 16, (to) => to.fillText(letter, 0, 0));
    glyphs.set(letter, made);
    return made;
  };
  const symbol = shape(SYMBOL, SYMBOL, (to) => to.strokeRect(2, 2, 7, 7));
  const to = canvas(WIDTH, HEIGHT, { alpha: false });
  const draw = (by) => {
    pixels.copy(ground, MARGIN + by, MARGIN, inks[0]);
    for (const { x, y, labelX, labelY, colour } of targets) {
      for (let dot = 1; dot <= 6; dot++) pixels.square(x - 6 * dot, y + 3 * dot, 2, inks[colour]);
      pixels.line(x, y, x + labelX, y + labelY, inks[colour]);
      pixels.line(x, y, x + 20, y - 10, inks[colour]);
      pixels.sprite(symbol, x - 5, y - 5, inks[colour]);
    }
    for (const { x, y, labelX, labelY, colour, words } of targets) {
      words.forEach((line, index) => {
        for (let at = 0; at < line.length; at++) {
          if (line[at] === ' ') continue;
          pixels.sprite(glyphs.get(line[at]) ?? glyph(line[at]), Math.round(x + labelX + at * 6.6), y + labelY + LINE * index, inks[colour]);
        }
      });
    }
    to.putImageData(image, 0, 0);
  };
  return { draw, read: () => to.getImageData(0, 0, 1, 1) };
}

const paths = byCanvas();
const webGl = byWebGl();
const pixels = byPixels();
const bitmap = await createImageBitmap(atlas.canvas);
const ways = [
  measure('2D canvas, paths and words', paths.words, paths.read),
  measure('2D canvas, pictures of labels and symbols', paths.pictures(bitmap), paths.read),
  ...(webGl === undefined ? [] : [measure('WebGL2, instances of such, without lines', webGl.draw, webGl.read)]),
  measure('an array of pixels', pixels.draw, pixels.read),
];
self.postMessage({ renderer: webGl?.renderer ?? 'nothing', ways });
