"""Reads alerts that others published, without any code of Hickory, and writes their facts as a table.

    read-alerts.py INDEX DIRECTORY > alerts.jsonl

INDEX is a list of {repo, path, file}; DIRECTORY has the files. A row has the facts of one alert: what its
elements are, in order, and the values of those that decide whom it selects. Sentences, names and addresses are
left out ("-" stands for them). Beside them is what this reading makes of the original: how many polygons,
circles and geocodes it has and a digest of them, or the code of the reason for which it must be refused.
"""
import hashlib
import json
import re
import struct
import sys
import xml.etree.ElementTree as ElementTree
from datetime import datetime
from fractions import Fraction

VERSIONS = {
    "urn:oasis:names:tc:emergency:cap:1.2": "1.2",
    "urn:oasis:names:tc:emergency:cap:1.1": "1.1",
    "http://www.incident.com/cap/1.0": "1.0",
}
KEPT = set(
    "sent status msgType scope code language category responseType urgency severity certainty effective "
    "onset expires polygon circle valueName value altitude ceiling".split()
)
DROPPED = {"parameter", "resource"}
ONE = {
    "alert": "identifier sender sent status msgType".split(),
    "info": "event urgency severity certainty".split(),
    "area": ["areaDesc"],
    "geocode": ["valueName", "value"],
    "eventCode": ["valueName", "value"],
}
MAY = {
    "alert": "password source scope restriction addresses code* note references incidents info*".split(),
    "info": "language category* responseType* audience eventCode* effective onset expires senderName headline "
    "description instruction web contact parameter* resource* area*".split(),
    "area": "polygon* circle* geocode* altitude ceiling".split(),
    "geocode": [],
    "eventCode": [],
}
VALUES = {
    "status": "Actual Exercise System Test Draft",
    "msgType": "Alert Update Cancel Ack Error",
    "scope": "Public Restricted Private",
    "urgency": "Immediate Expected Future Past Unknown",
    "severity": "Extreme Severe Moderate Minor Unknown",
    "certainty": "Observed Likely Possible Unlikely Unknown Very_Likely",
    "category": "Geo Met Safety Security Rescue Fire Health Env Transport Infra CBRNE Other",
    "responseType": "Shelter Evacuate Prepare Execute Avoid Monitor Assess AllClear None",
}
SYSTEMS = {
    "same": "SAME",
    "ugc": "UGC",
    "nwsugc": "UGC",
    "fips6": "FIPS6",
    "emma_id": "EMMA_ID",
    "nuts2": "NUTS2",
    "nuts3": "NUTS3",
    "warncellid": "WARNCELLID",
    "iso 3166-2": "ISO3166-2",
    "iso3166-2": "ISO3166-2",
    "urn:oasis:names:tc:emergency:cap:1.2:profile:cap-au:1.0:iso3166-2": "ISO3166-2",
    "profile:cap-cp:location:0.3": "CAP-CP",
    "profile:cap-cp:location:0.4": "CAP-CP",
    "layer:ec-msc-smc:1.0:clc": "CLC",
    "layer:ec-msc-smc:1.1:clc": "CLC",
    "layer:ec:1.0:clc": "CLC",
}


class Refused(Exception):
    pass


def split(tag):
    match = re.match(r"\{(.*)\}(.*)", tag)
    return match.groups() if match else ("", tag)


def facts(element, namespace):
    """[name, text] or [name, [children]]; a name with "!" is of another namespace."""
    uri, name = split(element.tag)
    shown = name if uri == namespace else "!" + name
    children = [each for each in element if isinstance(each.tag, str) and split(each.tag)[1] not in DROPPED]
    if uri != namespace:
        return ["!" + name, ""]
    if len(element):
        return [shown, [facts(each, namespace) for each in children]]
    text = element.text or ""
    if name in KEPT:
        return [shown, " ".join(text.split())]
    if name == "references":
        return [shown, " ".join(",".join("-" if part else "" for part in each.split(",")) for each in text.split())]
    if name in ("geocode", "eventCode") and "=" in text:
        return [shown, text.strip()]
    return [shown, "-" if text.strip() else ""]


def check(element, namespace, kind, version):
    counts = {}
    for each in element:
        if not isinstance(each.tag, str):
            continue
        uri, name = split(each.tag)
        known = ONE[kind] + [one.rstrip("*") for one in MAY[kind]]
        if uri != namespace:
            if name in known:
                raise Refused("InvalidCap")
            continue
        if name not in known:
            raise Refused("InvalidCap")
        counts[name] = counts.get(name, 0) + 1
    for name in ONE[kind]:
        if counts.get(name, 0) != 1:
            raise Refused("InvalidCap")
    for name in MAY[kind]:
        if not name.endswith("*") and counts.get(name, 0) > 1:
            raise Refused("InvalidCap")
    if version != "1.0":
        if kind == "alert" and "scope" not in counts or kind == "info" and "category" not in counts:
            raise Refused("InvalidCap")
    for each in element:
        uri, name = split(each.tag) if isinstance(each.tag, str) else ("", "")
        text = (each.text or "").strip()
        if uri != namespace:
            continue
        if name in VALUES and text.replace(" ", "_") not in VALUES[name].split():
            raise Refused("InvalidCap")
        if name in ("sent", "effective", "onset", "expires"):
            when(text)
        if name in ("identifier", "sender", "event") and not text:
            raise Refused("InvalidCap")
        if name in ("altitude", "ceiling") and not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)", text):
            raise Refused("InvalidCap")
        if name in ("info", "area") or version != "1.0" and name in ("geocode", "eventCode"):
            check(each, namespace, name, version)
        elif name in ("geocode", "eventCode") and text.find("=") < 1:
            raise Refused("InvalidCap")


def when(text):
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", text):
        raise Refused("InvalidCap")
    try:
        datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        raise Refused("InvalidCap")


def number(text):
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text):
        raise Refused("InvalidCap")
    return Fraction(text)


def pair(word):
    parts = word.split(",")
    if len(parts) != 2:
        raise Refused("InvalidCap")
    return number(parts[0]), number(parts[1])


def places(pairs):
    if all(abs(lat) <= 90 and abs(lng) <= 360 for lat, lng in pairs):
        return
    if all(abs(lng) <= 90 and abs(lat) <= 180 for lat, lng in pairs):
        raise Refused("AxesExchanged")
    raise Refused("LatitudeOutOfRange" if any(abs(lat) > 90 for lat, _ in pairs) else "LongitudeOutOfRange")


def bits(value):
    """The double that is nearest, to be compared as it is."""
    return struct.pack(">d", float(value)).hex()


def side(a, b, c):
    value = (b[1] - a[1]) * (c[0] - a[0]) - (b[0] - a[0]) * (c[1] - a[1])
    return (value > 0) - (value < 0)


def crosses(pairs):
    """In whole numbers, which Python multiplies exactly."""
    scale = max(each.denominator for point in pairs for each in point)
    while any((each * scale).denominator != 1 for point in pairs for each in point):
        scale *= 10
    pairs = [(int(lat * scale), int(lng * scale)) for lat, lng in pairs]
    half, turn = 180 * scale, 360 * scale
    ways = [(a, b) for a, b in zip(pairs, pairs[1:]) if a != b]
    if max(lng for _, lng in pairs) - min(lng for _, lng in pairs) > half:
        ways = [tuple((lat, lng + turn if lng < 0 else lng) for lat, lng in way) for way in ways]
    ways.sort(key=lambda way: min(way[0][1], way[1][1]))
    for i, (a, b) in enumerate(ways):
        east = max(a[1], b[1])
        low, high = min(a[0], b[0]), max(a[0], b[0])
        for c, d in ways[i + 1 :]:
            if min(c[1], d[1]) > east:
                break
            if c[0] < low and d[0] < low or c[0] > high and d[0] > high:
                continue
            if side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0:
                return True
    return False


def shapes(root, namespace, version):
    found = set()
    tag = lambda name: "{%s}%s" % (namespace, name)
    infos = root.findall(tag("info"))
    cancels = root.findtext(tag("msgType"), "").strip() == "Cancel"
    count = 0
    for info in infos:
        areas = info.findall(tag("area"))
        count += len(areas)
        if not areas and not cancels:
            raise Refused("CapAreaMissing")
        for area in areas:
            before = [each for each in area if split(each.tag)[1] in ("polygon", "circle", "geocode")]
            if not before:
                raise Refused("CapAreaMissing")
            for polygon in area.findall(tag("polygon")):
                pairs = [pair(word) for word in (polygon.text or "").split()]
                if not pairs and any((each.text or "").strip() or len(each) for each in before):
                    continue
                places(pairs)
                if len(pairs) < 4:
                    raise Refused("CapPolygonTooFewPoints")
                if pairs[0] != pairs[-1]:
                    raise Refused("CapPolygonOpen")
                if len(set(pairs)) < 3:
                    raise Refused("DegenerateRing")
                if crosses(pairs):
                    raise Refused("CapPolygonCrossing")
                found.add("P " + " ".join(bits(lng) + bits(lat) for lat, lng in pairs))
            for circle in area.findall(tag("circle")):
                words = (circle.text or "").split()
                if not words and any((each.text or "").strip() or len(each) for each in before):
                    continue
                if len(words) != 2:
                    raise Refused("InvalidCap")
                lat, lng = pair(words[0])
                radius = number(words[1]) * 1000
                places([(lat, lng)])
                found.add("C " + bits(lng) + bits(lat) + " " + bits(radius))
            for geocode in area.findall(tag("geocode")):
                if version == "1.0":
                    name, _, value = (each.strip() for each in geocode.text.partition("="))
                else:
                    name = geocode.findtext(tag("valueName"), "").strip()
                    value = geocode.findtext(tag("value"), "").strip()
                system = SYSTEMS.get(name.lower())
                if system is None and not re.fullmatch(r"[A-Za-z][A-Za-z0-9 _.-]{0,63}", name):
                    raise Refused("UnknownGeocodeSystem")
                if not value or len(value) > 64:
                    raise Refused("UnknownGeocodeSystem")
                if system == "FIPS6" and re.fullmatch(r"\d{6}", value):
                    system = "SAME"
                found.add("G %s:%s" % (system or name, value))
    if count == 0:
        raise Refused("CapAreaMissing")
    return found


def reading(root):
    namespace, name = split(root.tag)
    if name != "alert" or namespace not in VERSIONS:
        raise Refused("InvalidCap")
    version = VERSIONS[namespace]
    check(root, namespace, "alert", version)
    return shapes(root, namespace, version)


def main(index, directory):
    known = set()
    # A row for each different alert.
    for row in json.load(open(index)):
        # Samples in programs have marks of comments in them.
        if row["path"].endswith((".rs", ".md")):
            continue
        data = open("%s/%s" % (directory, row["file"]), "rb").read()
        try:
            root = ElementTree.fromstring(data)
        except ElementTree.ParseError:
            continue
        namespace, _ = split(root.tag)
        found = facts(root, namespace)
        key = json.dumps(found[1])
        if key in known or isinstance(found[1], str):
            continue
        known.add(key)
        try:
            lines = sorted(reading(root))
            counts = [sum(line.startswith(kind) for line in lines) for kind in "PCG"]
            digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
            outcome = counts + [digest]
        except Refused as refused:
            outcome = str(refused)
        text = json.dumps([row["repo"] + " " + row["path"], VERSIONS.get(namespace, namespace), found[1], outcome], ensure_ascii=False, separators=(",", ":"))
        # Alerts with thousands of points would make the table large, and say nothing new.
        if len(text) < 6_000:
            print(text)


main(*sys.argv[1:])
