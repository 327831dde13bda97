"use strict";
(function () {
  // Parsing every timeline at once would keep a page of hundreds of findings from being shown.
  function fill(finding) {
    var later = finding.querySelector("noscript.later");
    if (!later) return;
    var holder = document.createElement("template");
    holder.innerHTML = later.textContent;
    later.replaceWith(holder.content);
  }

  var waiting = Array.prototype.slice.call(document.querySelectorAll("details.finding"));

  function fillSome(deadline) {
    while (waiting.length && deadline.timeRemaining() > 4) fill(waiting.shift());
    if (waiting.length) window.requestIdleCallback(fillSome);
  }

  var form = document.getElementById("filter");
  if (!form) return;
  var findings = Array.prototype.slice.call(document.querySelectorAll("details.finding"));
  var count = document.getElementById("count");
  var none = document.getElementById("none");
  var texts = new Map();

  function textOf(finding) {
    fill(finding);
    if (!texts.has(finding)) texts.set(finding, finding.textContent.toLowerCase());
    return texts.get(finding);
  }

  function apply() {
    var words = form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
    var shown = 0;
    findings.forEach(function (finding) {
      var fits = ["candidate", "invariant", "status"].every(function (name) {
        var wanted = form.elements[name].value;
        return !wanted || finding.dataset[name] === wanted;
      });
      fits = fits && words.every(function (word) { return textOf(finding).includes(word); });
      finding.hidden = !fits;
      shown += fits ? 1 : 0;
    });
    count.textContent = shown + " of " + findings.length + " findings";
    none.hidden = shown > 0;
  }

  function openAll(open) {
    findings.forEach(function (finding) { if (!finding.hidden) finding.open = open; });
  }

  function openTarget() {
    var target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target || !target.classList.contains("finding")) return;
    fill(target);
    if (target.hidden) { form.reset(); apply(); }
    target.open = true;
    target.scrollIntoView();
  }

  form.hidden = false;
  form.addEventListener("input", apply);
  form.addEventListener("submit", function (event) { event.preventDefault(); });
  form.addEventListener("reset", function () { setTimeout(apply, 0); });
  document.getElementById("open").addEventListener("click", function () { openAll(true); });
  document.getElementById("close").addEventListener("click", function () { openAll(false); });
  document.querySelectorAll(".heat a").forEach(function (link) {
    link.addEventListener("click", function () {
      form.reset();
      form.elements.candidate.value = link.dataset.candidate;
      form.elements.invariant.value = link.dataset.invariant;
      apply();
    });
  });
  window.addEventListener("hashchange", openTarget);
  window.addEventListener("beforeprint", function () { openAll(true); findings.forEach(fill); });
  findings.forEach(function (finding) {
    if (finding.open) fill(finding);
    finding.addEventListener("toggle", function () { fill(finding); });
  });
  if (window.requestIdleCallback) window.addEventListener("load", function () { window.requestIdleCallback(fillSome); });
  openTarget();
})();
