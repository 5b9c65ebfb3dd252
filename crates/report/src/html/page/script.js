"use strict";
// Extras only: a cursor with the values of the interval under the pointer. Everything is readable without it.
(function () {
  var tip = document.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  document.body.appendChild(tip);
  document.querySelectorAll("svg[data-points]").forEach(function (svg) {
    var points = svg.dataset.points.split("|").map(function (p) {
      var at = p.indexOf(";");
      return { x: Number(p.slice(0, at)), text: p.slice(at + 1) };
    });
    var cursor = svg.querySelector(".cursor");
    function hide() {
      tip.hidden = true;
      cursor.style.visibility = "hidden";
    }
    svg.addEventListener("pointermove", function (e) {
      var box = svg.getBoundingClientRect();
      var x = ((e.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
      var near = points.reduce(function (a, b) {
        return Math.abs(b.x - x) < Math.abs(a.x - x) ? b : a;
      });
      cursor.setAttribute("x1", near.x);
      cursor.setAttribute("x2", near.x);
      cursor.style.visibility = "visible";
      tip.textContent = near.text;
      tip.hidden = false;
      var left = Math.min(e.pageX + 14, window.scrollX + document.documentElement.clientWidth - tip.offsetWidth - 8);
      tip.style.left = Math.max(left, 4) + "px";
      tip.style.top = e.pageY + 16 + "px";
    });
    svg.addEventListener("pointerleave", hide);
    svg.addEventListener("pointercancel", hide);
  });
})();
