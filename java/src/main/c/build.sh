#!/bin/sh
# build.sh ARM4_HOME HEADERS OUT: the JNI library, and the libarm4.so that it needs, into OUT, the
# folder of this machine in the jar. HEADERS holds what javac -h wrote. Maven calls it; C compiler
# and JDK as in CC and JAVA_HOME, else those in the PATH.
set -eu
arm4=${1:?ARM4_HOME} headers=${2:?HEADERS} out=${3:?OUT}
here=$(cd "$(dirname "$0")" && pwd)
[ -f "$arm4/lib/libarm4.so" ] || {
  echo "build.sh: $arm4/lib/libarm4.so is missing: make arm4 builds it" >&2
  exit 1
}
jdk=${JAVA_HOME:-$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")}
mkdir -p "$out"
cp "$arm4/lib/libarm4.so" "$out/libarm4.so"
exec "${CC:-cc}" -std=gnu11 -O2 -fPIC -fvisibility=hidden -Wall -Wextra -Werror \
  -I"$headers" -I"$arm4/include" -I"$jdk/include" -I"$jdk/include/linux" \
  -shared -Wl,-soname,libchronoscope_arm40.so -Wl,-z,defs \
  -o "$out/libchronoscope_arm40.so" "$here/native.c" "$here/payload.c" \
  -L"$arm4/lib" -larm4 -Wl,-rpath,'$ORIGIN'
