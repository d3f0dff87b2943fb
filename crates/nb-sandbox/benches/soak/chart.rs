//! The chart of a soak.

use std::error::Error;
use std::ops::Range;
use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;

use crate::segment::{FIGURES, Figure, Segment, median};
use crate::{TENTH, TOLERANCE_PERCENT, grouped};

const SIZE: (u32, u32) = (1000, 1050);
const BLUE: RGBColor = RGBColor(31, 97, 168);
const ORANGE: RGBColor = RGBColor(204, 85, 0);
const GREY: RGBColor = RGBColor(90, 90, 90);

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Writes memory, the times of small calls and those of all calls over the number of calls, one above the other.
pub fn write(path: &Path, title: &str, calls: usize, segments: &[Segment]) -> Result<(), Box<dyn Error>> {
    let root = SVGBackend::new(path, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let [memory, small_p50, small_p99, all_p99] = FIGURES;
    let panels = root.titled(title, ("sans-serif", 24))?.split_evenly((3, 1));
    panel(&panels[0], calls, segments, &[(memory, BLUE)])?;
    panel(&panels[1], calls, segments, &[(small_p99, ORANGE), (small_p50, BLUE)])?;
    panel(&panels[2], calls, segments, &[(all_p99, ORANGE)])?;
    root.present()?;
    Ok(())
}

fn panel(
    area: &Area<'_>,
    calls: usize,
    segments: &[Segment],
    lines: &[(Figure, RGBColor)],
) -> Result<(), Box<dyn Error>> {
    let largest = |of: fn(&Segment) -> f64| segments.iter().map(of).fold(0.0, f64::max);
    // From 0, so that a small change looks small; with room for the legend above.
    let highest = lines.iter().map(|((_, _, of), _)| largest(*of)).fold(0.0, f64::max) * 1.5;
    // One slow segment must not flatten all the others: what is higher is drawn at the edge.
    let usual = lines.iter().map(|((_, _, of), _)| median(segments, *of)).fold(0.0, f64::max) * 4.0;
    let top = highest.min(usual);
    let unit = lines.first().map_or("", |((_, unit, _), _)| *unit);
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .margin_right(40)
        .x_label_area_size(48)
        .y_label_area_size(72)
        .build_cartesian_2d(0.0..calls as f64, 0.0..top)?;
    chart
        .configure_mesh()
        .x_desc("calls")
        .y_desc(unit)
        .x_labels(11)
        .y_labels(7)
        .x_label_formatter(&|calls| grouped(*calls as usize))
        .y_label_formatter(&|value| grouped(*value as usize))
        .label_style(("sans-serif", 15))
        .axis_desc_style(("sans-serif", 16))
        .bold_line_style(BLACK.mix(0.15))
        .light_line_style(TRANSPARENT)
        .draw()?;
    let tolerance = f64::from(TOLERANCE_PERCENT) / 100.0;
    for ((name, _, of), color) in lines {
        let first = median(&segments[..TENTH], *of);
        let band: Range<f64> = first * (1.0 - tolerance)..first * (1.0 + tolerance);
        let corners = [(0.0, band.start), (calls as f64, band.end)];
        chart.draw_series([Rectangle::new(corners, color.mix(0.15).filled())])?;
        let step = calls as f64 / segments.len() as f64;
        let points = segments
            .iter()
            .enumerate()
            .map(|(index, segment)| ((index + 1) as f64 * step, of(segment).min(top)));
        let style = color.stroke_width(2);
        chart
            .draw_series(LineSeries::new(points, style))?
            .label(*name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 24, y)], style));
    }
    chart
        .draw_series(std::iter::empty::<Rectangle<(f64, f64)>>())?
        .label(format!("within {TOLERANCE_PERCENT} % of the first tenth"))
        .legend(|(x, y)| Rectangle::new([(x, y - 5), (x + 24, y + 5)], GREY.mix(0.25).filled()));
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .margin(8)
        .legend_area_size(32)
        .background_style(WHITE)
        .border_style(GREY)
        .label_font(("sans-serif", 15))
        .draw()?;
    Ok(())
}
