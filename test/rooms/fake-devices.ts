/**
 * Returns a page script with fake devices that a test controls. The camera is an area of `colors[identity]`,
 * or of the color passed to `window.paint`; the microphone is a tone of `tones[identity]` hertz while
 * `window.say(true)`; `window.spoken()` returns its total seconds.
 */
export function fakeDevices(colors: Record<string, string>, tones: Record<string, number>): string {
  return `{
    const identity = new URLSearchParams(location.search).get('identity');
    const context = new AudioContext();
    const gain = new GainNode(context, { gain: 0 });
    const voice = new OscillatorNode(context, { frequency: ${JSON.stringify(tones)}[identity] });
    const microphone = new MediaStreamAudioDestinationNode(context);
    voice.connect(gain).connect(microphone);
    voice.start();
    let since = null;
    window.say = (isOn) => {
      gain.gain.value = isOn ? 0.4 : 0;
      since = isOn ? context.currentTime : null;
    };
    window.spoken = () => (since === null ? 0 : context.currentTime - since);
    let color = ${JSON.stringify(colors)}[identity];
    window.paint = (wanted) => {
      color = wanted;
    };
    const camera = ({ width, height }) => {
      const canvas = Object.assign(document.createElement('canvas'), { width, height });
      const picture = canvas.getContext('2d');
      setInterval(() => {
        picture.fillStyle = color;
        picture.fillRect(0, 0, width, height);
        for (let index = 0; index < 200; index++) {
          picture.fillStyle = 'hsl(0 0% ' + Math.random() * 100 + '%)';
          picture.fillRect(Math.random() * width, Math.random() * 10, 4, 4);
        }
      }, 66);
      return canvas.captureStream(15);
    };
    navigator.mediaDevices.getUserMedia = async ({ video }) => (video ? camera(video) : microphone.stream.clone());
  }`;
}
