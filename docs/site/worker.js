/* Search in pages that were opened from a directory: browsers start no worker there, so its script runs in a frame. */
(() => {
  if (location.protocol !== "file:") return;
  const inside = `
    self.postMessage = (data) => frameElement.dispatchEvent(new CustomEvent("answer", { detail: data }));
    self.importScripts = (...urls) => urls.reduce((before, url) => before.then(() => new Promise((loaded) => {
      const script = document.createElement("script");
      script.src = url;
      script.onload = loaded;
      document.body.append(script);
    })), Promise.resolve());`;
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      frame.addEventListener("answer", (event) => {
        const message = new MessageEvent("message", { data: event.detail });
        this.dispatchEvent(message);
        if (this.onmessage) this.onmessage(message);
      });
      const page = frame.contentDocument;
      page.open();
      page.write("<html><body></body></html>");
      page.close();
      const first = page.createElement("script");
      first.textContent = inside;
      page.body.append(first);
      this.ready = new Promise((loaded) => {
        const script = page.createElement("script");
        script.src = new URL(url, location.href).href;
        script.onload = loaded;
        page.body.append(script);
      });
      this.frame = frame;
    }
    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {
      this.frame.remove();
    }
  };
  window.Worker = window.IFrameWorker;
})();
